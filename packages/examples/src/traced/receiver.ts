/**
 * A receiver of OTLP over HTTP with JSON, as small as can be, for `client`: keeps the spans that it gets, and writes them as trees.
 * It reads traces only.
 */
import * as Effect from "effect/Effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly kind: number
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly service: string
}

const spansOf = (body: any): ReadonlyArray<Span> =>
  (body.resourceSpans ?? []).flatMap((resource: any) => {
    const service = resource.resource.attributes.find(({ key }: any) => key === "service.name").value.stringValue
    return resource.scopeSpans.flatMap((scope: any) => scope.spans.map((span: any) => ({ ...span, service })))
  })

/** The kinds of spans as OTLP numbers them. */
const kinds = ["", "internal", "server", "client"]

/** One line for each span below this one, and what it links to. */
const lines = (
  spans: ReadonlyArray<Span>,
  { kind, links, name, service, spanId }: Span,
  depth: number
): Array<string> => {
  const linked = links.map((link) => spans.find((span) => span.spanId === link.spanId)?.name ?? "an unknown span")
  const own = `${"  ".repeat(depth)}${service}: ${kinds[kind]} ${name}${
    linked.map((name) => `, linked to ${name}`).join("")
  }`
  const below = spans.filter((span) => span.parentSpanId === spanId).sort((a, b) => a.name < b.name ? 1 : -1)
  return [own, ...below.flatMap((span) => lines(spans, span, depth + 1))]
}

export const make = Effect.gen(function*() {
  const spans: Array<Span> = []
  const server = createServer((request, response) => {
    const chunks: Array<Buffer> = []
    request.on("data", (chunk: Buffer) => chunks.push(chunk))
    request.on("end", () => {
      if (request.url === "/v1/traces") {
        for (const span of spansOf(JSON.parse(Buffer.concat(chunks).toString()))) spans.push(span)
      }
      response.writeHead(200, { "content-type": "application/json" }).end("{}")
    })
  })
  yield* Effect.acquireRelease(
    Effect.async<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        server.close()
        server.closeAllConnections()
      })
  )
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** The tree below the span of this name that has no parent, once `leaf` is in its trace; fails before that. */
    tree: (name: string, leaf: string) =>
      Effect.suspend(() => {
        const root = spans.find((span) => span.name === name && span.parentSpanId === undefined)
        const trace = spans.filter(({ traceId }) => traceId === root?.traceId)
        return root !== undefined && trace.some(({ name }) => name === leaf)
          ? Effect.sync(() => {
            const text = lines(trace, root, 0).join("\n")
            spans.splice(0)
            return text
          })
          : Effect.fail("not yet" as const)
      })
  }
})
