/**
 * The provider TCK: contract tests of the verbs SPI. Extend {@link org.jdapl.verbs.tck.ProviderTck}
 * and say where it runs:
 *
 * <pre>{@code
 * class MyProviderTest extends ProviderTck {
 *   @Override
 *   protected TckBed bed() {
 *     return TckBed.of(new MyProvider());
 *   }
 * }
 * }</pre>
 *
 * <p>A provider that cannot connect yet extends {@link org.jdapl.verbs.tck.LocalProviderTck}; one
 * that works at a single part extends the class of that part, such as {@link
 * org.jdapl.verbs.tck.ArmingTck}. Tests are named after the rule of the contract that they are of.
 * What a provider declares that it does not have is skipped, and the reason says so. A declaration
 * can be refuted here, and not be proved.
 */
package org.jdapl.verbs.tck;
