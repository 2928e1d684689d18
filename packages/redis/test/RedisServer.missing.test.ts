/**
 * The one file that runs where there is no Redis: vitest starts `install`, which tells that the others were skipped, for a project with
 * files only.
 */
import { expect, inject, it } from "vitest"

it("without redis-server, no test of this package has a server", () => {
  expect(inject("redis")).toBeUndefined()
})
