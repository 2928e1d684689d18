import { mergeConfig } from "vitest/config"
import shared from "../../vitest.shared.js"

// These tests replace streams and signals of their process, so each file has a process of its own.
export default mergeConfig(shared, { test: { name: "node", poolOptions: { forks: { isolate: true } } } })
