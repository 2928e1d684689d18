import { mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.js"

// These tests replace streams and signals of their process, so `npm test` gives each file a process of its own. The files of
// all other packages share one, so that Effect is loaded once.
export default mergeConfig(shared, { test: { name: "node" } })
