/* SPDX-License-Identifier: MIT
 * known_image.h: the device images that programs may bring. A grader lists those that its own build
 * has made; a submission could send any other.
 */
#ifndef VGPU_NODE_KNOWN_IMAGE_H
#define VGPU_NODE_KNOWN_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the list in the file $VGPU_IMAGES, before the jail: for each image its length, 8 bytes, and
 * its bytes. Without that variable all images are taken. False: it cannot be read. */
bool known_images_read(char *error, size_t room);

/* Is the sealed file one of them? Where the addresses of __managed__ variables are put, it may
 * differ. */
bool known_image(int fd);

#endif
