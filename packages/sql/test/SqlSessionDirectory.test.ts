import { describe, it } from "@effect/vitest"
import * as SqlSessionDirectory from "@effect-mcp/sql/SqlSessionDirectory"
import * as SessionDirectoryLaws from "@effect-mcp/testing/SessionDirectoryLaws"
import { engines } from "./Engines.js"

describe.each(engines)("a directory in $engine", ({ pair }) => {
  for (const { check, name } of SessionDirectoryLaws.laws) {
    it.scopedLive(name, () => check(pair(SqlSessionDirectory.make())))
  }
})
