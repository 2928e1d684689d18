import { assert, describe, it } from "@effect/vitest"
import { Context, FastCheck as fc, Option, Tracer } from "effect"
import * as TraceContext from "../../../src/protocol/telemetry/TraceContext.js"

describe("`traceparent`", () => {
  const ids = { traceId: "4bf92f3577b34da6a3ce929d0e0e4736", spanId: "00f067aa0ba902b7" }

  it("names the parent, sampled or not", () => {
    for (const sampled of [true, false]) {
      const found = TraceContext.parent({ traceparent: `00-${ids.traceId}-${ids.spanId}-${sampled ? "01" : "00"}` })
      assert.deepInclude(Option.getOrThrow(found), { ...ids, sampled })
    }
  })

  it("reads back the span that it names", () => {
    const span = Option.getOrThrow(TraceContext.parent({ traceparent: `00-${ids.traceId}-${ids.spanId}-01` }))
    assert.deepStrictEqual(TraceContext.inject(span), { traceparent: `00-${ids.traceId}-${ids.spanId}-01` })
  })

  for (
    const [why, traceparent] of [
      ["an id of zeros", `00-${"0".repeat(32)}-${ids.spanId}-01`],
      ["a span of zeros", `00-${ids.traceId}-${"0".repeat(16)}-01`],
      ["capitals", `00-${ids.traceId.toUpperCase()}-${ids.spanId}-01`],
      ["the version that is none", `ff-${ids.traceId}-${ids.spanId}-01`],
      ["more than this version has", `00-${ids.traceId}-${ids.spanId}-01-more`],
      ["endless length", `01-${ids.traceId}-${ids.spanId}-01-${"x".repeat(1e6)}`],
      ["no text", 5]
    ] as const
  ) {
    it(`with ${why} names no parent`, () => {
      assert.isTrue(Option.isNone(TraceContext.parent({ traceparent })))
    })
  }

  it("of a later version may be longer", () => {
    assert.isTrue(Option.isSome(TraceContext.parent({ traceparent: `01-${ids.traceId}-${ids.spanId}-01-more` })))
  })

  it("never throws, whatever a peer sends", () => {
    fc.assert(fc.property(fc.anything(), (meta) => {
      TraceContext.parent(meta)
      TraceContext.parent({ traceparent: meta })
    }))
  })
})

describe("`tracestate`", () => {
  const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
  const stateOf = (tracestate: unknown, isSent: (key: string) => boolean = () => true) =>
    TraceContext.stateOf(Option.getOrThrow(TraceContext.parent({ traceparent, tracestate })), isSent)

  it("leaves with the keys that are wanted, in order", () => {
    assert.strictEqual(stateOf("rojo=00f067aa,congo=t61r cW"), "rojo=00f067aa,congo=t61r cW")
    assert.strictEqual(stateOf("rojo=1, congo=2,a@b=3", (key) => key !== "rojo"), "congo=2,a@b=3")
    assert.strictEqual(stateOf("rojo=1", () => false), undefined)
  })

  it("is that of the span of another process, however far above it is", () => {
    const above = Option.getOrThrow(TraceContext.parent({ traceparent, tracestate: "rojo=1" }))
    const span = (parent: Tracer.AnySpan) => ({ _tag: "Span", parent: Option.some(parent) }) as Tracer.Span
    assert.strictEqual(TraceContext.stateOf(span(span(above)), () => true), "rojo=1")
    const ofNobody = Tracer.externalSpan({ traceId: "a", spanId: "b", context: Context.empty() })
    assert.strictEqual(TraceContext.stateOf(span(ofNobody), () => true), undefined)
  })

  for (
    const [why, tracestate] of [
      ["a key twice", "a=1,b=2,a=3"],
      ["a line break", "a=1\r\nset-cookie: b"],
      ["a capital in a key", "A=1"],
      ["a member without a value", "a"],
      ["more than 512 characters", `a=${"x".repeat(250)},b=${"x".repeat(250)},c=${"x".repeat(10)}`],
      ["more than 32 members", Array.from({ length: 33 }, (_, i) => `k${i}=1`).join(",")],
      ["thousands of members", Array.from({ length: 5000 }, (_, i) => `k${i}=1`).join(",")],
      ["no text", { a: 1 }],
      ["nothing", ""]
    ] as const
  ) it(`with ${why} counts as absent`, () => assert.strictEqual(stateOf(tracestate), undefined))

  it("never throws, whatever a peer sends", () => {
    fc.assert(fc.property(fc.oneof(fc.anything(), fc.string()), (tracestate) => {
      stateOf(tracestate)
    }))
  })
})
