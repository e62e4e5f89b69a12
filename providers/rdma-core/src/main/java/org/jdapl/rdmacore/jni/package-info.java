/**
 * All native methods of the provider, the library they are in, and what the two sides share. Not
 * exported. A method here checks nothing: who calls it knows that its pointers are alive.
 */
package org.jdapl.rdmacore.jni;
