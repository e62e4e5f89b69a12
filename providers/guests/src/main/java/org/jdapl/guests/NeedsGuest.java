package org.jdapl.guests;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/**
 * Skips a class unless tests in guests are wanted; the build of provider-rdma-core said how to want
 * them, and what they lack.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@EnabledIfSystemProperty(
    named = "jdapl.guest",
    matches = "required",
    disabledReason = "tests in guests run with -Djdapl.guest=required")
public @interface NeedsGuest {}
