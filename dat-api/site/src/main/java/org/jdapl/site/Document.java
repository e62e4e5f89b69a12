package org.jdapl.site;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.commonmark.Extension;
import org.commonmark.ext.gfm.tables.TablesExtension;
import org.commonmark.ext.heading.anchor.HeadingAnchorExtension;
import org.commonmark.node.AbstractVisitor;
import org.commonmark.node.FencedCodeBlock;
import org.commonmark.node.Heading;
import org.commonmark.node.Link;
import org.commonmark.node.Node;
import org.commonmark.parser.IncludeSourceSpans;
import org.commonmark.parser.Parser;
import org.commonmark.renderer.html.HtmlRenderer;
import org.commonmark.renderer.text.TextContentRenderer;

/**
 * A document in Markdown.
 *
 * @param path where it is, from the root of the project, with forward slashes.
 * @param node what is in it.
 */
record Document(String path, Node node) {

  /** Where something is pointed to, and the line that does. */
  record Reference(int line, String destination) {}

  /** A block of code. */
  record Snippet(int line, String info, String text) {}

  private static final Pattern ANCHOR = Pattern.compile("<h[1-6] id=\"([^\"]+)\"");
  private static final List<Extension> EXTENSIONS =
      List.of(TablesExtension.create(), HeadingAnchorExtension.create());
  private static final Parser PARSER =
      Parser.builder()
          .extensions(EXTENSIONS)
          .includeSourceSpans(IncludeSourceSpans.BLOCKS_AND_INLINES)
          .build();
  private static final HtmlRenderer HTML =
      HtmlRenderer.builder()
          .extensions(EXTENSIONS)
          .attributeProviderFactory(
              context ->
                  (node, tag, attributes) -> {
                    if (node instanceof Link link && !isElsewhere(link.getDestination())) {
                      attributes.put("href", page(link.getDestination()));
                    }
                  })
          .build();
  private static final TextContentRenderer TEXT = TextContentRenderer.builder().build();

  static Document parse(final String path, final String markdown) {
    return new Document(path, PARSER.parse(markdown));
  }

  /** The page of a document, where a destination is one. */
  static String page(final String destination) {
    return destination
        .replaceFirst("(^|/)README\\.md(?=#|$)", "$1index.html")
        .replaceFirst("\\.md(?=#|$)", ".html");
  }

  static boolean isElsewhere(final String destination) {
    return destination.matches("[a-z]+:.*");
  }

  /** Its first heading; its name where it has none. */
  String title() {
    final List<Heading> headings = all(Heading.class);
    return headings.isEmpty()
        ? Path.of(path).getFileName().toString()
        : TEXT.render(headings.get(0)).strip();
  }

  /** What can be pointed to in it: its headings, as the page has them. */
  Set<String> anchors() {
    return ANCHOR
        .matcher(html())
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toSet());
  }

  List<Reference> links() {
    return all(Link.class).stream()
        .map(link -> new Reference(line(link), link.getDestination()))
        .toList();
  }

  List<Snippet> snippets() {
    return all(FencedCodeBlock.class).stream()
        .map(code -> new Snippet(line(code), code.getInfo().strip(), code.getLiteral()))
        .toList();
  }

  /** Its body as a page has it. */
  String html() {
    return HTML.render(node);
  }

  private static int line(final Node node) {
    return node.getSourceSpans().get(0).getLineIndex() + 1;
  }

  private <T extends Node> List<T> all(final Class<T> type) {
    final List<T> found = new ArrayList<>();
    node.accept(
        new AbstractVisitor() {
          @Override
          protected void visitChildren(final Node parent) {
            if (type.isInstance(parent)) {
              found.add(type.cast(parent));
            }
            super.visitChildren(parent);
          }

          @Override
          public void visit(final FencedCodeBlock code) {
            visitChildren(code);
          }
        });
    return found;
  }
}
