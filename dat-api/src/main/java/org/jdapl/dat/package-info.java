/**
 * The DAT API: direct access transport for Java, in the shape of kDAPL and uDAPL 2.0.
 *
 * <p>{@link org.jdapl.dat.Dat#open} gives an {@link org.jdapl.dat.InterfaceAdapter}; from it come
 * {@link org.jdapl.dat.Endpoint}s, which carry data, and {@link org.jdapl.dat.Evd}s, which
 * serialize all that happens into upcalls of one {@link org.jdapl.dat.EventHandler}.
 *
 * <p>Rules for all of it: ordinary outcomes are return values of type {@link
 * org.jdapl.dat.Outcome}; misuse is a {@link org.jdapl.dat.DatException} with DAT's type and
 * subtype; a closed object answers INVALID_HANDLE (a post to a closed endpoint INVALID_STATE);
 * every method may be called from any thread and from inside any upcall, unless it says otherwise;
 * what waits says so, and never waits inside an upcall.
 *
 * <p>What is marked {@link org.jdapl.dat.Experimental} may change in any version.
 */
package org.jdapl.dat;
