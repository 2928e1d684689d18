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
  { file: "packages/core/src/jsonrpc/runtime/JsonText.ts", why: "owns JSON.parse and JSON.stringify, which throw" },
  {
    file: "packages/core/src/jsonrpc/runtime/Diagnostics.ts",
    why: "must be total: an observer that throws kills the process"
  },
  { file: "packages/core/src/jsonrpc/LineFraming.ts", why: "guards the decoding of bytes and lines that a peer chose" }
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
    file: "packages/redis/src/connection/RedisClient.ts",
    timers: ["setImmediate"],
    why: "writes once per turn of the event loop"
  }
]

/** Modules that have a function of more than 60 lines, and why. The list only shrinks: `scripts/lint.test.mjs` finds an entry that is not needed. */
export const mayBeLong = [
  {
    why: "a case for each keyword or each kind of schema",
    files: [
      "packages/ai/src/ToolList.ts",
      "packages/core/src/definition/schema/JsonSchemaValidator.ts",
      "packages/core/src/definition/schema/SchemaAnnotations.ts",
      "packages/openapi/src/document/Schemas.ts"
    ]
  },
  {
    why: "puts a server together",
    files: [
      "packages/core/src/server/dispatch/Build.ts",
      "packages/core/src/server/dispatch/Dispatch.ts"
    ]
  },
  {
    why: "a stand-in for tests, which nothing runs in production",
    files: [
      "packages/testing/src/OfficialSchema.ts",
      "packages/testing/src/TestPeer.ts",
      "packages/testing/src/authorization/Clients.ts",
      "packages/testing/src/authorization/Endpoints.ts",
      "packages/testing/src/authorization/Grants.ts"
    ]
  }
]

/** Modules that have a function with more than 15 ways through it, and why. This list only shrinks, too. */
export const mayBeComplex = [
  {
    why: "on the path of every message",
    files: [
      "packages/core/src/jsonrpc/MessageText.ts",
      "packages/core/src/jsonrpc/runtime/Calls.ts",
      "packages/core/src/jsonrpc/runtime/MessageOutline.ts",
      "packages/core/src/jsonrpc/runtime/Requests.ts"
    ]
  },
  {
    why: "a table: a row for each code, capability or option",
    files: [
      "packages/core/src/client/http/Settings.ts",
      "packages/core/src/client/session/DeclaredCapabilities.ts",
      "packages/core/src/client/session/MethodCalls.ts",
      "packages/core/src/protocol/McpError.ts"
    ]
  },
  {
    why: "a list of checks, one after another",
    files: [
      "packages/auth/src/discovery/UrlPolicy.ts",
      "packages/auth/src/flow/TokenEndpoint.ts",
      "packages/auth/src/identity/Identities.ts",
      "packages/auth/src/resource/DpopProofs.ts",
      "packages/auth/src/resource/TokenRules.ts",
      "packages/core/src/protocol/rules/ElicitationForm.ts"
    ]
  },
  {
    why: "a case for each keyword or each kind of schema",
    files: [
      "packages/core/src/definition/schema/JsonSchema.ts",
      "packages/core/src/definition/schema/SchemaAnnotations.ts",
      "packages/core/src/definition/uri/UriMatcher.ts",
      "packages/openapi/src/call/Parameters.ts",
      "packages/testing/src/OfficialSchema.ts"
    ]
  },
  {
    why: "a decision between effects",
    files: [
      "packages/core/src/server/dispatch/Dispatch.ts",
      "packages/node/src/ConfiguredServers.ts"
    ]
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

const noTimeout = {
  selector: "MemberExpression[object.name='Effect'][property.name=/^timeout/]",
  message: "No `Effect.timeout…`: TimeLimit.call waits for an answer, TimeLimit.end for an end, also in a finalizer."
}

const noRace = {
  selector: "MemberExpression[object.name='Effect'][property.name=/^race/]",
  message: "No `Effect.race…`: Race.raceFirst also ends when its fiber is interrupted between two steps."
}

/** The one module that may use `Effect.timeout…`. */
const timeLimit = "packages/core/src/kit/TimeLimit.ts"

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
      "complexity": ["error", 15],
      "max-lines-per-function": ["error", { max: 60, skipBlankLines: true, skipComments: true }],
      "no-console": "error",
      "no-restricted-globals": noTimers([]),
      "no-restricted-imports": ["error", { paths: [...barrels, ...timerModules] }],
      "no-restricted-properties": [
        "error",
        ...properties,
        ...timers.map((property) => ({ object: "globalThis", property, message: fromSchedule }))
      ],
      "no-restricted-syntax": [
        "error",
        spreadPush,
        asAny,
        noReexport,
        ...noAsync,
        noTry,
        noWallClock,
        noRace,
        noTimeout
      ],
      // What other modules use and applications must not is in a hidden module.
      "no-warning-comments": ["error", { terms: ["@internal"], location: "anywhere" }]
    }
  },
  {
    files: [timeLimit],
    rules: { "no-restricted-syntax": ["error", spreadPush, asAny, noReexport, ...noAsync, noTry, noWallClock, noRace] }
  },
  {
    files: mayTry.map(({ file }) => file),
    rules: {
      "no-restricted-syntax": ["error", spreadPush, asAny, noReexport, ...noAsync, noWallClock, noRace, noTimeout]
    }
  },
  { files: mayBeLong.flatMap(({ files }) => files), rules: { "max-lines-per-function": "off" } },
  { files: mayBeComplex.flatMap(({ files }) => files), rules: { "complexity": "off" } },
  ...mayUseTimers.map(({ file, timers }) => ({
    files: [file],
    rules: { "no-restricted-globals": noTimers(timers) }
  }))
)
