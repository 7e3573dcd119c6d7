/* SPDX-License-Identifier: MIT
 * known_image.h: restricts the device images that programs may load. A grader lists the images of
 * its own build; a submission could send any other.
 */
#ifndef VGPU_NODE_KNOWN_IMAGE_H
#define VGPU_NODE_KNOWN_IMAGE_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the list from the file $VGPU_IMAGES, before the jail is entered: for each image its size (8
 * bytes) and its contents. Without that variable all images are accepted. False: it cannot be read.
 */
bool known_images_read(char *error, size_t room);

/* True if the sealed file is one of the images. It may differ where addresses of __managed__
 * variables are stored. */
bool known_image(int fd);

#endif
