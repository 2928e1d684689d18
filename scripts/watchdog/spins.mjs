import { setTimeout } from "node:timers/promises"
import { describe, it } from "vitest"

describe("a test", () => {
  it("lets time pass", () => setTimeout(1500))

  it("awaits for ever", async () => {
    for (;;) await undefined
  })
})
