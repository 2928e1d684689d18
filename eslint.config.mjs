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
  { file: "packages/core/src/kit/Waking.ts", why: "a fiber that throws must not keep all others asleep" },
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

/**
 * Parts of Effect that its versions 3 and 4 have in different ways: the module that stands for a part, and every module that
 * may import the part, and why. All others import the module that stands for it. `scripts/lint.test.mjs` finds an entry that
 * is not needed.
 */
export const seams = [
  {
    imports: ["effect/SchemaAST"],
    instead: "SchemaTree",
    may: [
      { file: "packages/core/src/protocol/schema/SchemaTree.ts", why: "the tree that all others read" },
      {
        file: "packages/core/src/protocol/schema/EffectParser.ts",
        why: "reads the messages that a schema has for issues"
      }
    ]
  },
  {
    imports: ["effect/ParseResult"],
    instead: "EffectParser",
    may: [
      { file: "packages/core/src/protocol/schema/EffectParser.ts", why: "the parser that all others call" },
      { file: "packages/core/src/protocol/Issue.ts", why: "names the type of an issue in its public API" },
      { file: "packages/core/src/protocol/McpError.ts", why: "names the type of an issue in its public API" },
      { file: "packages/core/src/protocol/Method.ts", why: "names the error of a decoder in its public API" }
    ]
  },
  {
    imports: ["effect/Chunk"],
    instead: "StreamArrays, or an array",
    may: [{ file: "packages/core/src/kit/StreamArrays.ts", why: "makes arrays of the chunks of streams" }]
  },
  {
    imports: ["@effect/platform/Error", "@effect/platform/HttpClientError"],
    instead: "PlatformError of the client, or DirectoryError",
    may: [
      { file: "packages/core/src/client/http/PlatformError.ts", why: "reads the errors of HTTP clients" },
      { file: "packages/auth/src/identity/DirectoryError.ts", why: "makes the errors of a key-value store" },
      { file: "packages/auth/src/stored/TextStore.ts", why: "names the type of a key-value store's error" },
      {
        file: "packages/extensions/src/skills/server/SkillDirectory.ts",
        why: "names the type of a file system's error"
      },
      { file: "packages/openapi/src/OpenApi.ts", why: "names the type of an HTTP client's error" },
      { file: "packages/openapi/src/call/ApiAnswer.ts", why: "names the type of an HTTP client's error" }
    ]
  },
  {
    imports: [
      "effect/ExecutionStrategy",
      "effect/FiberId",
      "effect/FiberRef",
      "effect/FiberRefs",
      "effect/FiberStatus",
      "effect/Runtime",
      "effect/RuntimeFlags"
    ],
    instead: "EffectInternals",
    may: [
      { file: "packages/core/src/kit/EffectInternals.ts", why: "has what all others start and read fibers with" },
      { file: "packages/core/src/kit/LogEntry.ts", why: "reads what a logger is told" },
      { file: "packages/core/src/server/runtime/RequestScope.ts", why: "has the shape of a scope" }
    ]
  },
  {
    imports: ["effect/GlobalValue", "effect/Scheduler"],
    instead: "EffectInternals.shared, EffectInternals.later",
    may: [{ file: "packages/core/src/kit/EffectInternals.ts", why: "has what all others call" }]
  },
  {
    imports: ["effect/MetricKey", "effect/MetricState"],
    instead: "Gauge",
    may: [{ file: "packages/core/src/server/telemetry/Gauge.ts", why: "counts when it is read" }]
  },
  {
    imports: ["effect/HashMap"],
    instead: "LogEntry, or a Map",
    may: [{ file: "packages/core/src/kit/LogEntry.ts", why: "reads the annotations of what is logged" }]
  },
  {
    imports: ["effect/JSONSchema"],
    instead: "SchemaAnnotations, or JsonObject for a type",
    may: [{
      file: "packages/core/src/definition/schema/SchemaAnnotations.ts",
      why: "generates the JSON Schema that all others advertise"
    }]
  }
]

/** What versions 3 and 4 of Effect have in different ways, where no import tells: code that shows it, and the modules that may, and why. */
export const seamSyntax = [
  {
    selector:
      ":matches(MemberExpression[computed=false][property.name='ast'], ObjectPattern > Property[computed=false][key.name='ast'])",
    message: "No `ast`: SchemaTree.of gives the tree of a schema.",
    examples: [
      "export const one = (schema: { readonly ast: 1 }) => schema.ast",
      "export const one = ({ ast }: { readonly ast: 1 }) => ast"
    ],
    may: [
      { file: "packages/core/src/protocol/schema/SchemaTree.ts", why: "the tree that all others read" },
      {
        file: "packages/core/src/protocol/schema/EffectParser.ts",
        why: "reads what the parser says about a part of a schema"
      }
    ]
  },
  {
    selector:
      "MemberExpression[object.name=/^(Effect|Queue|Stream)$/][property.name=/Chunk|^(paginate|runCollect|take(All|Between|N|UpTo)$|toPull$)/]",
    message: "No chunks: StreamArrays makes and reads streams by arrays, EffectInternals.takeWaiting empties a queue.",
    examples: [
      "import * as Stream from \"effect/Stream\"\nexport const one = Stream.runCollect(Stream.make(1))",
      "import * as Queue from \"effect/Queue\"\nexport const one = (queue: Queue.Queue<1>) => Queue.takeAll(queue)"
    ],
    may: [
      { file: "packages/core/src/kit/StreamArrays.ts", why: "makes arrays of the chunks of streams" },
      { file: "packages/core/src/kit/EffectInternals.ts", why: "empties a queue" }
    ]
  },
  {
    selector: "MemberExpression[object.name='Effect'][property.name=/^locally/]",
    message: "No fiber refs: EffectInternals.withValue and addTo set the values that fibers inherit.",
    examples: [
      "import * as Effect from \"effect/Effect\"\nexport const one = (ref: any) => Effect.locally(Effect.void, ref, 1)"
    ],
    may: [
      { file: "packages/core/src/kit/EffectInternals.ts", why: "has the values that fibers inherit" },
      { file: "packages/core/src/client/http/PlatformClient.ts", why: "sets what the platform's HTTP clients read" }
    ]
  },
  {
    selector:
      ":matches(MemberExpression[computed=false][property.name=/^(currentContext|fiberRefs|runtimeFlags|unsafeMap)$/], MemberExpression[object.name='Context'][property.name='unsafeMake'], MemberExpression[object.name='Effect'][property.name='runtime'])",
    message: "EffectInternals reads and makes the services of a fiber.",
    examples: [
      "export const one = (context: { readonly unsafeMap: 1 }) => context.unsafeMap",
      "import * as Effect from \"effect/Effect\"\nexport const one = Effect.runtime()"
    ],
    may: [
      {
        file: "packages/core/src/kit/EffectInternals.ts",
        why: "has what all others read the services of a fiber with"
      },
      { file: "packages/core/src/kit/LogEntry.ts", why: "reads the services of the fiber that logs" }
    ]
  },
  {
    selector: "TSQualifiedName[left.name='Effect'][right.name='Latch']",
    message: "The type of a latch is EffectInternals.Latch.",
    examples: ["import type * as Effect from \"effect/Effect\"\nexport type One = Effect.Latch"],
    may: [{ file: "packages/core/src/kit/EffectInternals.ts", why: "has the latches that all others open" }]
  },
  {
    selector:
      ":matches(MemberExpression[object.name='Either'][property.name='isEither'], CallExpression[callee.object.name='Effect'] FunctionExpression[generator=true] YieldExpression[delegate=true] > CallExpression.argument[callee.object.name='Either'])",
    message:
      "An Either is not an Effect: EffectInternals.fromEither makes one of it, EffectInternals.outcome reads it.",
    examples: [
      "import * as Either from \"effect/Either\"\nexport const one = Either.isEither(1)",
      "import * as Effect from \"effect/Effect\"\nimport * as Either from \"effect/Either\"\nexport const one = Effect.gen(function*() {\n  return yield* Either.right(1)\n})"
    ],
    may: [{ file: "packages/core/src/kit/EffectInternals.ts", why: "makes an Effect of an Either" }]
  },
  {
    selector: "Literal[value=/^(TcpAddress|UnixAddress)$/]",
    message: "No address of the platform: ServerAddress reads where an HTTP server listens.",
    examples: ["export const one = (address: { readonly _tag: string }) => address._tag === \"TcpAddress\""],
    may: [{ file: "packages/core/src/server/http/ServerAddress.ts", why: "reads where an HTTP server listens" }]
  }
]

/** The same for tests: only a helper in packages/testing/test/support knows how a version of Effect does it. */
export const testSeams = [
  {
    selector: "MemberExpression[object.name='Fiber'][property.name='status']",
    message: "Use untilSuspended or untilIdle of packages/testing/test/support/Suspended.",
    example: "import { Fiber } from \"effect\"\nexport const one = (fiber: any) => Fiber.status(fiber)",
    file: "packages/testing/test/support/Suspended.ts"
  },
  {
    selector: "MemberExpression[object.name='Arbitrary'][property.name='make']",
    message: "Use schemaArbitrary of packages/testing/test/support/SchemaArbitrary.",
    example: "import { Arbitrary, Schema } from \"effect\"\nexport const one = Arbitrary.make(Schema.String)",
    file: "packages/testing/test/support/SchemaArbitrary.ts"
  },
  {
    selector: "NewExpression[callee.object.name='HttpClientError']",
    message: "Use PlatformErrors of packages/testing/test/support.",
    example:
      "import * as HttpClientError from \"@effect/platform/HttpClientError\"\nexport const one = (a: any) => new HttpClientError.RequestError(a)",
    file: "packages/testing/test/support/PlatformErrors.ts"
  }
]

const testSyntaxIn = (file) => [
  "error",
  spreadPush,
  ...testSeams.filter((seam) => seam.file !== file).map(({ message, selector }) => ({ selector, message }))
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

/** What no library module writes, but for the modules named. */
const librarySyntax = [
  ...[spreadPush, asAny, noReexport, ...noAsync, noWallClock, noRace].map((rule) => ({ rule, may: [] })),
  { rule: noTry, may: mayTry.map(({ file }) => file) },
  { rule: noTimeout, may: [timeLimit] },
  ...seamSyntax.map(({ may, message, selector }) => ({ rule: { selector, message }, may: may.map(({ file }) => file) }))
]

const syntaxIn = (file) => [
  "error",
  ...librarySyntax.filter(({ may }) => !may.includes(file)).map(({ rule }) => rule)
]

const importsIn = (file) => ["error", {
  paths: [
    ...barrels,
    ...timerModules,
    ...seams.filter(({ may }) => !may.some((one) => one.file === file)).flatMap(({ imports, instead }) =>
      imports.map((name) => ({ name, message: `Only the modules that \`seams\` names read it: use ${instead}.` }))
    )
  ]
}]

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
  { files: ["packages/*/test/**/*.ts"], rules: { "no-restricted-syntax": testSyntaxIn(undefined) } },
  ...testSeams.map(({ file }) => ({ files: [file], rules: { "no-restricted-syntax": testSyntaxIn(file) } })),
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
      "no-restricted-imports": importsIn(undefined),
      "no-restricted-properties": [
        "error",
        ...properties,
        ...timers.map((property) => ({ object: "globalThis", property, message: fromSchedule }))
      ],
      "no-restricted-syntax": syntaxIn(undefined),
      // What other modules use and applications must not is in a hidden module.
      "no-warning-comments": ["error", { terms: ["@internal"], location: "anywhere" }]
    }
  },
  ...[...new Set(librarySyntax.flatMap(({ may }) => may))].map((file) => ({
    files: [file],
    rules: { "no-restricted-syntax": syntaxIn(file) }
  })),
  ...[...new Set(seams.flatMap(({ may }) => may.map(({ file }) => file)))].map((file) => ({
    files: [file],
    rules: { "no-restricted-imports": importsIn(file) }
  })),
  { files: mayBeLong.flatMap(({ files }) => files), rules: { "max-lines-per-function": "off" } },
  { files: mayBeComplex.flatMap(({ files }) => files), rules: { "complexity": "off" } },
  {
    // For the edition for Effect 4, of which these modules are the part that is written by hand: each is a seam.
    files: ["**/*.v4.ts"],
    rules: {
      "complexity": "off",
      "max-lines-per-function": "off",
      "no-restricted-imports": ["error", { paths: barrels }],
      "no-restricted-properties": "off",
      "no-restricted-syntax": ["error", asAny, noReexport, ...noAsync, noTry]
    }
  },
  ...mayUseTimers.map(({ file, timers }) => ({
    files: [file],
    rules: { "no-restricted-globals": noTimers(timers) }
  }))
)
