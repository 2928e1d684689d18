// Effect's style: dprint through ESLint, namespace imports, generics for arrays, nothing that needs types. Rules about
// imports live in .dependency-cruiser.mjs, rules about files and packages in scripts/rules.mjs.
import * as effect from "@effect/eslint-plugin"
import js from "@eslint/js"
import simpleImportSort from "eslint-plugin-simple-import-sort"
import sortDestructureKeys from "eslint-plugin-sort-destructure-keys"
import tseslint from "typescript-eslint"

const sources = ["packages/*/src/**/*.ts"]
const programs = ["packages/examples/**", "packages/benchmarks/**", "packages/attacks/**", "packages/cluster/**"]

/** Library modules that may `try`, and why. */
export const mayTry = [
  { file: "packages/jsonrpc/src/runtime/Json.ts", why: "owns JSON.parse and JSON.stringify, which throw" },
  {
    file: "packages/jsonrpc/src/runtime/Diagnostics.ts",
    why: "must be total: an observer that throws kills the process"
  },
  { file: "packages/jsonrpc/src/LineFraming.ts", why: "guards the decoding of bytes and lines that a peer chose" }
]

/** Modules that may use a timer of Node's, and why; all others sleep on Effect's Clock. */
export const mayUseTimers = [
  {
    file: "packages/node/src/stdio/Output.ts",
    timers: ["setImmediate"],
    why: "writes once per turn of the event loop"
  },
  {
    file: "packages/node/src/stdio/Input.ts",
    timers: ["setImmediate"],
    why: "reads few messages per turn of the event loop"
  },
  {
    file: "packages/redis/src/connection/Client.ts",
    timers: ["setImmediate"],
    why: "writes once per turn of the event loop"
  }
]

/** What plain JavaScript finds in Node; in TypeScript the compiler knows. */
const nodeGlobals = [
  "AbortController",
  "AbortSignal",
  "Buffer",
  "clearImmediate",
  "clearInterval",
  "clearTimeout",
  "console",
  "fetch",
  "performance",
  "process",
  "queueMicrotask",
  "setImmediate",
  "setInterval",
  "setTimeout",
  "TextDecoder",
  "TextEncoder",
  "URL"
]

const spreadPush = {
  selector: "CallExpression[callee.property.name='push'] > SpreadElement.arguments",
  message: "Do not spread into push: a long array overflows the stack."
}

const asAny = {
  selector: ":matches(TSAsExpression, TSTypeAssertion) > TSAnyKeyword",
  message: "No `as any`: assert the narrowest type, and say why it holds."
}

const noAsync = [
  { selector: ":function[async=true]", message: "No `async`: write Effect.gen or Effect.fnUntraced." },
  { selector: "AwaitExpression", message: "No `await`: use `yield*`." },
  { selector: "ForOfStatement[await=true]", message: "No `for await`: use a Stream." }
]

const noTry = {
  selector: "TryStatement",
  message: "No `try`: use Effect.try, or name the module in `mayTry` of eslint.config.mjs with a reason."
}

const noWallClock = {
  selector: "NewExpression[callee.name='Date'][arguments.length=0]",
  message: "Time comes from Effect's Clock."
}

const fromClock = "Time comes from Effect's Clock, so that tests can turn it."
const fromSchedule = "Sleep with Effect.sleep or a Schedule, so that tests can turn the clock."
const timers = ["setTimeout", "setInterval", "setImmediate"]

const noReexport = {
  selector: ":matches(ExportNamedDeclaration[source], ExportAllDeclaration)",
  message: "No re-export: a name has one import path."
}

const noTimers = (except) => [
  "error",
  ...timers.filter((name) => !except.includes(name)).map((name) => ({ name, message: fromSchedule }))
]

const properties = [
  { object: "Date", property: "now", message: fromClock },
  { object: "performance", property: "now", message: fromClock },
  { object: "Math", property: "random", message: "Chance comes from Effect's Random; secrets from crypto." }
]

const barrels = [
  { name: "effect", message: "Import the module, \"effect/Effect\": barrels cost start-up time." },
  { name: "@effect/platform", message: "Import the module, \"@effect/platform/HttpApp\"." },
  { name: "@effect/platform-node", message: "Import the module, \"@effect/platform-node/NodeRuntime\"." }
]

const timerModules = ["timers", "node:timers", "timers/promises", "node:timers/promises"].map((name) => ({
  name,
  message: fromSchedule
}))

export default tseslint.config(
  { ignores: ["**/dist/", "**/build/", "**/coverage/", "packages/cli/bin/"] },
  { linterOptions: { reportUnusedDisableDirectives: "error" } },
  js.configs.recommended,
  tseslint.configs.recommended,
  effect.configs.dprint,
  {
    plugins: {
      "simple-import-sort": simpleImportSort,
      "sort-destructure-keys": sortDestructureKeys
    },
    rules: {
      "no-fallthrough": "off",
      "no-irregular-whitespace": "off",
      "no-restricted-syntax": ["error", spreadPush],
      "object-shorthand": "error",
      "prefer-rest-params": "off",
      "prefer-spread": "off",
      "require-yield": "off",

      // One block of imports, packages before parents before siblings.
      "simple-import-sort/imports": ["error", { groups: [["^\\u0000", "^", "^\\.\\.", "^\\."]] }],
      "simple-import-sort/exports": "error",
      "sort-destructure-keys/sort-destructure-keys": "error",

      "@typescript-eslint/array-type": ["error", { default: "generic", readonly: "generic" }],
      "@typescript-eslint/ban-ts-comment": "off",
      "@typescript-eslint/consistent-type-imports": ["error", { disallowTypeAnnotations: false }],
      "@typescript-eslint/no-empty-object-type": "off",
      "@typescript-eslint/no-explicit-any": "off",
      "@typescript-eslint/no-namespace": "off",
      "@typescript-eslint/no-non-null-assertion": "off",
      "@typescript-eslint/no-unsafe-function-type": "off",
      "@typescript-eslint/no-unused-vars": [
        "error",
        { argsIgnorePattern: "^_", varsIgnorePattern: "^_", destructuredArrayIgnorePattern: "^_" }
      ],
      "@typescript-eslint/no-wrapper-object-types": "off",

      "@effect/dprint": ["error", {
        config: {
          indentWidth: 2,
          lineWidth: 120,
          semiColons: "asi",
          quoteStyle: "alwaysDouble",
          trailingCommas: "never",
          operatorPosition: "maintain",
          "arrowFunction.useParentheses": "force",
          // simple-import-sort sorts; two sorters would never agree.
          "module.sortImportDeclarations": "maintain",
          "module.sortExportDeclarations": "maintain",
          "importDeclaration.sortNamedImports": "maintain",
          "exportDeclaration.sortNamedExports": "maintain"
        }
      }]
    }
  },
  {
    files: ["**/*.mjs"],
    languageOptions: { globals: Object.fromEntries(nodeGlobals.map((name) => [name, "readonly"])) }
  },
  {
    files: sources,
    rules: { "no-restricted-syntax": ["error", spreadPush, asAny] }
  },
  {
    // Written by scripts/codegen.mjs.
    files: ["packages/*/src/index.ts"],
    rules: { "simple-import-sort/exports": "off" }
  },
  {
    files: sources,
    ignores: [...programs, "packages/*/src/index.ts"],
    rules: {
      "no-console": "error",
      "no-restricted-globals": noTimers([]),
      "no-restricted-imports": ["error", { paths: [...barrels, ...timerModules] }],
      "no-restricted-properties": [
        "error",
        ...properties,
        ...timers.map((property) => ({ object: "globalThis", property, message: fromSchedule }))
      ],
      "no-restricted-syntax": ["error", spreadPush, asAny, noReexport, ...noAsync, noTry, noWallClock]
    }
  },
  {
    files: mayTry.map(({ file }) => file),
    rules: { "no-restricted-syntax": ["error", spreadPush, asAny, noReexport, ...noAsync, noWallClock] }
  },
  ...mayUseTimers.map(({ file, timers }) => ({
    files: [file],
    rules: { "no-restricted-globals": noTimers(timers) }
  }))
)
