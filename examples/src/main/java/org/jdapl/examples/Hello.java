package org.jdapl.examples;

import static java.nio.charset.StandardCharsets.UTF_8;
import static java.util.concurrent.TimeUnit.SECONDS;
import static org.jdapl.dat.ConnectionEvent.Kind.ESTABLISHED;
import static org.jdapl.dat.DtoOperation.RECEIVE;
import static org.jdapl.dat.DtoStatus.SUCCESS;
import static org.jdapl.dat.EventStream.CONNECTION;
import static org.jdapl.dat.EventStream.CONNECTION_REQUEST;
import static org.jdapl.dat.EventStream.DTO;
import static org.jdapl.dat.Privilege.LOCAL_READ;
import static org.jdapl.dat.Privilege.LOCAL_WRITE;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import org.jdapl.dat.ConnectionEvent;
import org.jdapl.dat.ConnectionRequestEvent;
import org.jdapl.dat.Dat;
import org.jdapl.dat.DtoCompletion;
import org.jdapl.dat.Endpoint;
import org.jdapl.dat.EndpointAttributes;
import org.jdapl.dat.Evd;
import org.jdapl.dat.EventHandler;
import org.jdapl.dat.InterfaceAdapter;
import org.jdapl.dat.Lmr;
import org.jdapl.dat.ProtectionZone;
import org.jdapl.dat.PublicServicePoint;
import picocli.CommandLine.Command;
import picocli.CommandLine.ExitCode;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Spec;

/** The smallest consumer: two endpoints, one EVD, one message. */
@Command(
    name = "hello",
    description = "The smallest consumer: two endpoints, one EVD, one message.")
final class Hello implements Callable<Integer> {

  @Spec private CommandSpec spec;

  @Override
  public Integer call() throws Exception {
    try {
      spec.commandLine().getOut().println("bob heard: " + hello("sim"));
      return ExitCode.OK;
    } catch (final TimeoutException e) {
      spec.commandLine().getErr().println("bob heard nothing within 30 seconds");
      return ExitCode.SOFTWARE;
    }
  }

  // tag::hello[]
  static String hello(final String ia) throws Exception {
    final ByteBuffer buffer = ByteBuffer.allocateDirect(16).put(0, "Hello!".getBytes(UTF_8));
    final CompletableFuture<String> heard = new CompletableFuture<>();
    try (InterfaceAdapter adapter = Dat.open(ia);
        Evd evd = adapter.createEvd(64, DTO, CONNECTION, CONNECTION_REQUEST);
        ProtectionZone pz = adapter.createPz();
        Lmr memory = pz.createLmr(buffer, LOCAL_READ, LOCAL_WRITE);
        Endpoint alice = adapter.createEndpoint(pz, evd, EndpointAttributes.defaults());
        Endpoint bob = adapter.createEndpoint(pz, evd, EndpointAttributes.defaults());
        PublicServicePoint door = adapter.createPsp(4711, evd)) {
      bob.postReceive(memory, 8, 8, 0);
      evd.upcall(
          new EventHandler() { // called for one event at a time
            @Override
            public void onRequest(final ConnectionRequestEvent event) {
              event.request().accept(bob, null);
            }

            @Override
            public void onConnection(final ConnectionEvent event) {
              if (event.endpoint() == alice && event.kind() == ESTABLISHED) {
                alice.postSend(memory, 0, 6, 0);
              }
            }

            @Override
            public void onCompletion(final DtoCompletion event) {
              if (event.operation() == RECEIVE && event.status() == SUCCESS) {
                final int length = (int) event.transferredLength();
                heard.complete(UTF_8.decode(buffer.slice(8, length)).toString());
              }
            }
          });
      alice.connect(adapter.address(), door.connQual(), Duration.ofSeconds(30), null);
      return heard.get(30, SECONDS);
    }
  }
  // end::hello[]
}
