/**
 * Providers that stand before any other provider, the simulated one or one with hardware: {@link
 * org.jdapl.hooks.Faults} lets things go wrong as a {@link org.jdapl.hooks.FaultPlan} says, {@link
 * org.jdapl.hooks.Trace} writes down what is called and what comes.
 *
 * <pre>{@code
 * SimFabric fabric = SimFabric.virtual(seed);
 * FaultPlan plan = FaultPlan.parse("drop notification@3; delay established@1=20ms");
 * Faults faults = Faults.over(fabric.provider(SimModel.DEFAULT), plan, fabric.clock());
 * Jdapl jdapl = Jdapl.with(faults).byHand().clock(faults.clock()).start();
 * }</pre>
 */
package org.jdapl.hooks;
