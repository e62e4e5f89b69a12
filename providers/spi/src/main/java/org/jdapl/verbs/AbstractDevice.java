package org.jdapl.verbs;

import java.net.InetAddress;

/** What a device tells of itself, for a provider to extend. */
public abstract class AbstractDevice implements Device {

  private final String name;
  private final Declaration declaration;
  private final DeviceLimits limits;
  private final InetAddress address;
  private volatile AsyncHandler asyncHandler;

  /**
   * A device that tells this.
   *
   * @param name its {@link #name}.
   * @param declaration its {@link #declaration}.
   * @param limits its {@link #limits}.
   * @param address its {@link #address}.
   */
  protected AbstractDevice(
      final String name,
      final Declaration declaration,
      final DeviceLimits limits,
      final InetAddress address) {
    this.name = name;
    this.declaration = declaration;
    this.limits = limits;
    this.address = address;
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final Declaration declaration() {
    return declaration;
  }

  @Override
  public final DeviceLimits limits() {
    return limits;
  }

  @Override
  public final InetAddress address() {
    return address;
  }

  @Override
  public final void onAsync(final AsyncHandler handler) {
    asyncHandler = handler;
  }

  /**
   * Where asynchronous events go.
   *
   * @return what {@link #onAsync} was told; null before.
   */
  public final AsyncHandler asyncHandler() {
    return asyncHandler;
  }
}
