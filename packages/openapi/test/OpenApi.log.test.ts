/** Requests hold credentials and what a user wrote: a log has other readers. */
import * as FetchHttpClient from "@effect/platform/FetchHttpClient"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import { assert, describe, it } from "@effect/vitest"
import * as OpenApi from "@effect-mcp/openapi/OpenApi"
import { Effect, Logger } from "effect"
import { inspect } from "node:util"
import { petstore } from "./Petstore.js"

describe("The tools of an OpenAPI document", () => {
  it.effect("write into the log why a request failed, and no address, header or argument", () =>
    Effect.gen(function*() {
      const logged: Array<unknown> = []
      const logger = Logger.make(({ annotations, cause, message }) => {
        logged.push(message, [...annotations], cause)
      })
      const refused = Object.assign(new Error("connect ECONNREFUSED 10.0.0.1:443"), { code: "ECONNREFUSED" })
      const failures: ReadonlyArray<readonly [Error, string]> = [
        [new TypeError("fetch failed", { cause: refused }), "TypeError, Error: connect ECONNREFUSED 10.0.0.1:443"],
        // As the fetch of Node.js does for a header.
        [new TypeError("\"secret\" is an invalid header value."), "TypeError"]
      ]
      const { tools } = yield* OpenApi.make(petstore, {
        baseUrl: "https://api.example",
        request: (request) =>
          Effect.succeed(request.pipe(
            HttpClientRequest.setHeader("x-token", "secret"),
            HttpClientRequest.setUrlParam("api_key", "secret")
          ))
      })
      for (const [failure, told] of failures) {
        yield* tools.find(({ definition }) => definition.name === "getPetById")!.call({ petId: "4711" }).pipe(
          Effect.provide([FetchHttpClient.layer, Logger.replace(Logger.defaultLogger, logger)]),
          Effect.provideService(FetchHttpClient.Fetch, () => Promise.reject(failure))
        )
        const text = inspect(logged.splice(0), { depth: 20, showHidden: true })
        assert.include(text, `The request "get /pet/{petId}" failed: RequestError (Transport): ${told}'`)
        for (const word of ["secret", "4711", "api_key", "x-token", "api.example"]) assert.notInclude(text, word)
      }
    }))
})
