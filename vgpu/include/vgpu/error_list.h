/* SPDX-License-Identifier: MIT
 * error_list.h: every code a CUDA call can answer with: name, value, and what it says.
 *
 * X(name, value, text): driver_types.h makes the enumeration of it, the runtime the two functions
 * cudaGetErrorName and cudaGetErrorString. Names and values are CUDA 13.0's.
 */
#ifndef VGPU_ERROR_LIST_H
#define VGPU_ERROR_LIST_H

#define VGPU_ERROR_LIST(X)                                                                         \
    X(cudaSuccess, 0, "no error")                                                                  \
    X(cudaErrorInvalidValue, 1, "invalid argument")                                                \
    X(cudaErrorMemoryAllocation, 2, "out of memory")                                               \
    X(cudaErrorInitializationError, 3, "initialization error")                                     \
    X(cudaErrorCudartUnloading, 4, "driver shutting down")                                         \
    X(cudaErrorProfilerDisabled, 5, "profiler disabled")                                           \
    X(cudaErrorProfilerNotInitialized, 6, "profiler not initialised (no longer returned)")         \
    X(cudaErrorProfilerAlreadyStarted, 7, "profiler already started (no longer returned)")         \
    X(cudaErrorProfilerAlreadyStopped, 8, "profiler already stopped (no longer returned)")         \
    X(cudaErrorInvalidConfiguration, 9, "invalid configuration argument")                          \
    X(cudaErrorInvalidPitchValue, 12, "invalid pitch argument")                                    \
    X(cudaErrorInvalidSymbol, 13, "invalid device symbol")                                         \
    X(cudaErrorInvalidHostPointer, 16, "invalid host pointer")                                     \
    X(cudaErrorInvalidDevicePointer, 17, "invalid device pointer")                                 \
    X(cudaErrorInvalidTexture, 18, "invalid texture reference")                                    \
    X(cudaErrorInvalidTextureBinding, 19, "texture not bound to a pointer")                        \
    X(cudaErrorInvalidChannelDescriptor, 20, "invalid channel descriptor")                         \
    X(cudaErrorInvalidMemcpyDirection, 21, "invalid copy direction for memcpy")                    \
    X(cudaErrorAddressOfConstant, 22, "address of a constant taken (no longer returned)")          \
    X(cudaErrorTextureFetchFailed, 23, "texture fetch failed (no longer returned)")                \
    X(cudaErrorTextureNotBound, 24, "texture not bound (no longer returned)")                      \
    X(cudaErrorSynchronizationError, 25, "synchronisation failed (no longer returned)")            \
    X(cudaErrorInvalidFilterSetting, 26, "linear filtering needs a float texture")                 \
    X(cudaErrorInvalidNormSetting, 27, "normalised reads need an integer texture")                 \
    X(cudaErrorMixedDeviceExecution, 28, "device and emulation code mixed (no longer returned)")   \
    X(cudaErrorNotYetImplemented, 31, "call not implemented (no longer returned)")                 \
    X(cudaErrorMemoryValueTooLarge, 32, "pointer beyond 32 bits (no longer returned)")             \
    X(cudaErrorStubLibrary, 34, "a stub library stands in for the CUDA driver")                    \
    X(cudaErrorInsufficientDriver, 35,                                                             \
      "CUDA driver version is insufficient for CUDA runtime version")                              \
    X(cudaErrorCallRequiresNewerDriver, 36, "this call needs a newer CUDA driver")                 \
    X(cudaErrorInvalidSurface, 37, "invalid surface reference")                                    \
    X(cudaErrorDuplicateVariableName, 43, "several variables share one name")                      \
    X(cudaErrorDuplicateTextureName, 44, "several textures share one name")                        \
    X(cudaErrorDuplicateSurfaceName, 45, "several surfaces share one name")                        \
    X(cudaErrorDevicesUnavailable, 46, "CUDA-capable device(s) is/are busy or unavailable")        \
    X(cudaErrorIncompatibleDriverContext, 49, "the current context does not fit the runtime")      \
    X(cudaErrorMissingConfiguration, 52, "launch without a configuration")                         \
    X(cudaErrorPriorLaunchFailure, 53, "an earlier launch failed (no longer returned)")            \
    X(cudaErrorLaunchMaxDepthExceeded, 65, "launches nested too deeply")                           \
    X(cudaErrorLaunchFileScopedTex, 66, "file-scoped textures in a nested launch")                 \
    X(cudaErrorLaunchFileScopedSurf, 67, "file-scoped surfaces in a nested launch")                \
    X(cudaErrorSyncDepthExceeded, 68, "synchronisation nested too deeply")                         \
    X(cudaErrorLaunchPendingCountExceeded, 69, "too many pending nested launches")                 \
    X(cudaErrorInvalidDeviceFunction, 98, "invalid device function")                               \
    X(cudaErrorNoDevice, 100, "no CUDA-capable device is detected")                                \
    X(cudaErrorInvalidDevice, 101, "invalid device ordinal")                                       \
    X(cudaErrorDeviceNotLicensed, 102, "device has no valid licence")                              \
    X(cudaErrorSoftwareValidityNotEstablished, 103, "software validity not established")           \
    X(cudaErrorStartupFailure, 127, "the CUDA runtime could not start")                            \
    X(cudaErrorInvalidKernelImage, 200, "device kernel image is invalid")                          \
    X(cudaErrorDeviceUninitialized, 201, "invalid device context")                                 \
    X(cudaErrorMapBufferObjectFailed, 205, "mapping of the buffer failed")                         \
    X(cudaErrorUnmapBufferObjectFailed, 206, "unmapping of the buffer failed")                     \
    X(cudaErrorArrayIsMapped, 207, "array is mapped")                                              \
    X(cudaErrorAlreadyMapped, 208, "resource already mapped")                                      \
    X(cudaErrorNoKernelImageForDevice, 209,                                                        \
      "no kernel image is available for execution on the device")                                  \
    X(cudaErrorAlreadyAcquired, 210, "resource already acquired")                                  \
    X(cudaErrorNotMapped, 211, "resource not mapped")                                              \
    X(cudaErrorNotMappedAsArray, 212, "resource not mapped as an array")                           \
    X(cudaErrorNotMappedAsPointer, 213, "resource not mapped as a pointer")                        \
    X(cudaErrorECCUncorrectable, 214, "uncorrectable ECC error")                                   \
    X(cudaErrorUnsupportedLimit, 215, "limit is not supported by the device")                      \
    X(cudaErrorDeviceAlreadyInUse, 216, "device already in use by another thread")                 \
    X(cudaErrorPeerAccessUnsupported, 217,                                                         \
      "peer access is not supported between these two devices")                                    \
    X(cudaErrorInvalidPtx, 218, "PTX code does not compile")                                       \
    X(cudaErrorInvalidGraphicsContext, 219, "invalid graphics context")                            \
    X(cudaErrorNvlinkUncorrectable, 220, "uncorrectable NVLink error")                             \
    X(cudaErrorJitCompilerNotFound, 221, "PTX compiler not found")                                 \
    X(cudaErrorUnsupportedPtxVersion, 222, "PTX version is newer than the driver")                 \
    X(cudaErrorJitCompilationDisabled, 223, "PTX compilation is switched off")                     \
    X(cudaErrorUnsupportedExecAffinity, 224, "processor affinity not supported for this context")  \
    X(cudaErrorUnsupportedDevSideSync, 225, "device code synchronises with its own launches")      \
    X(cudaErrorContained, 226, "an error was contained on the device; the process must end")       \
    X(cudaErrorInvalidSource, 300, "invalid kernel source")                                        \
    X(cudaErrorFileNotFound, 301, "file not found")                                                \
    X(cudaErrorSharedObjectSymbolNotFound, 302, "symbol of a shared object not found")             \
    X(cudaErrorSharedObjectInitFailed, 303, "a shared object did not start")                       \
    X(cudaErrorOperatingSystem, 304, "OS call failed or operation not supported on this OS")       \
    X(cudaErrorInvalidResourceHandle, 400, "invalid resource handle")                              \
    X(cudaErrorIllegalState, 401, "the resource is not in the state this call needs")              \
    X(cudaErrorLossyQuery, 402, "the query would lose information")                                \
    X(cudaErrorSymbolNotFound, 500, "named symbol not found")                                      \
    X(cudaErrorNotReady, 600, "device not ready")                                                  \
    X(cudaErrorIllegalAddress, 700, "an illegal memory access was encountered")                    \
    X(cudaErrorLaunchOutOfResources, 701, "too many resources requested for launch")               \
    X(cudaErrorLaunchTimeout, 702, "the launch timed out and was terminated")                      \
    X(cudaErrorLaunchIncompatibleTexturing, 703, "texturing modes of kernel and launch differ")    \
    X(cudaErrorPeerAccessAlreadyEnabled, 704, "peer access is already enabled")                    \
    X(cudaErrorPeerAccessNotEnabled, 705, "peer access has not been enabled")                      \
    X(cudaErrorSetOnActiveProcess, 708, "too late: the process already uses a device")             \
    X(cudaErrorContextIsDestroyed, 709, "context is destroyed")                                    \
    X(cudaErrorAssert, 710, "device-side assert triggered")                                        \
    X(cudaErrorTooManyPeers, 711, "peer mapping resources exhausted")                              \
    X(cudaErrorHostMemoryAlreadyRegistered, 712,                                                   \
      "part or all of the requested memory range is already mapped")                               \
    X(cudaErrorHostMemoryNotRegistered, 713,                                                       \
      "pointer does not correspond to a registered memory region")                                 \
    X(cudaErrorHardwareStackError, 714, "hardware stack error")                                    \
    X(cudaErrorIllegalInstruction, 715, "an illegal instruction was encountered")                  \
    X(cudaErrorMisalignedAddress, 716, "misaligned address")                                       \
    X(cudaErrorInvalidAddressSpace, 717, "operation not supported on global/shared address space") \
    X(cudaErrorInvalidPc, 718, "invalid program counter")                                          \
    X(cudaErrorLaunchFailure, 719, "unspecified launch failure")                                   \
    X(cudaErrorCooperativeLaunchTooLarge, 720, "too many blocks in cooperative launch")            \
    X(cudaErrorTensorMemoryLeak, 721, "tensor memory not given back by a kernel")                  \
    X(cudaErrorNotPermitted, 800, "operation not permitted")                                       \
    X(cudaErrorNotSupported, 801, "operation not supported")                                       \
    X(cudaErrorSystemNotReady, 802, "system not yet initialized")                                  \
    X(cudaErrorSystemDriverMismatch, 803, "display driver and CUDA driver do not match")           \
    X(cudaErrorCompatNotSupportedOnDevice, 804, "compatibility mode not supported on this device") \
    X(cudaErrorMpsConnectionFailed, 805, "no connection to the MPS server")                        \
    X(cudaErrorMpsRpcFailure, 806, "call to the MPS server failed")                                \
    X(cudaErrorMpsServerNotReady, 807, "MPS server cannot take clients now")                       \
    X(cudaErrorMpsMaxClientsReached, 808, "too many MPS clients")                                  \
    X(cudaErrorMpsMaxConnectionsReached, 809, "too many MPS connections")                          \
    X(cudaErrorMpsClientTerminated, 810, "the MPS server ended this client")                       \
    X(cudaErrorCdpNotSupported, 811, "launches from device code not supported")                    \
    X(cudaErrorCdpVersionMismatch, 812, "device runtime versions differ")                          \
    X(cudaErrorStreamCaptureUnsupported, 900, "not permitted while the stream is capturing")       \
    X(cudaErrorStreamCaptureInvalidated, 901, "the capture was invalidated by an earlier error")   \
    X(cudaErrorStreamCaptureMerge, 902, "the call would join two captures")                        \
    X(cudaErrorStreamCaptureUnmatched, 903, "capture was not begun in this stream")                \
    X(cudaErrorStreamCaptureUnjoined, 904, "capture ended with unjoined streams")                  \
    X(cudaErrorStreamCaptureIsolation, 905, "dependency would cross the border of the capture")    \
    X(cudaErrorStreamCaptureImplicit, 906, "the legacy stream would depend on the capture")        \
    X(cudaErrorCapturedEvent, 907, "event was last recorded in a capturing stream")                \
    X(cudaErrorStreamCaptureWrongThread, 908, "capture must end in the thread that began it")      \
    X(cudaErrorTimeout, 909, "the operation timed out")                                            \
    X(cudaErrorGraphExecUpdateFailure, 910, "the graph differs too much for an update")            \
    X(cudaErrorExternalDevice, 911, "a device outside CUDA failed")                                \
    X(cudaErrorInvalidClusterSize, 912, "invalid cluster size")                                    \
    X(cudaErrorFunctionNotLoaded, 913, "function not loaded")                                      \
    X(cudaErrorInvalidResourceType, 914, "resource type does not fit the call")                    \
    X(cudaErrorInvalidResourceConfiguration, 915, "resource configuration does not fit the call")  \
    X(cudaErrorUnknown, 999, "unknown error")                                                      \
    X(cudaErrorApiFailureBase, 10000, "API failure base")

#endif
