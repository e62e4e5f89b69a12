package org.jdapl.rdmacore;

/**
 * Why devices cannot be used, or not as they should.
 *
 * @param reason what kind of problem it is.
 * @param cause one sentence that says what was found.
 * @param remedy what to do about it.
 */
public record Problem(Reason reason, String cause, String remedy) {

  /** The kinds of problems, in the order in which they can be found. */
  public enum Reason {
    /** There is no native library for this operating system and architecture. */
    PLATFORM,
    /** This build has no native library at all. */
    NOT_BUILT,
    /** The native library cannot be unpacked, or not be run where it was unpacked. */
    WORK_DIRECTORY,
    /** The native library was found and cannot be loaded. */
    UNLOADABLE,
    /** The native library is of another build than the Java classes. */
    ABI_MISMATCH,
    /** libibverbs or librdmacm is not installed, or too old. */
    NO_RDMA_CORE,
    /** There is no RDMA device. */
    NO_DEVICE,
    /** There are devices, and no device files of them, as in a container that was not given any. */
    NO_DEVICE_FILES,
    /** The kernel's connection manager is not loaded, or its device file is not there. */
    NO_CONNECTION_MANAGER,
    /** A device file may not be opened. */
    PERMISSION,
    /** No IP address of this machine belongs to the device that was asked for. */
    NO_ADDRESS,
    /** Less memory may be pinned than is wanted. */
    MEMLOCK,
    /** A verb failed on the device. */
    DEVICE
  }

  @Override
  public String toString() {
    return cause + "; " + remedy;
  }
}
