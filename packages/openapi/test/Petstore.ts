/**
 * A document of OpenAPI 3.0 about a store of pets, with the parts of the well-known example, and a real HTTP server that serves
 * it on 127.0.0.1 and remembers what it was sent.
 */
import { Effect } from "effect"
import * as Http from "node:http"
import type { AddressInfo } from "node:net"

export const petstore = {
  openapi: "3.0.3",
  info: { title: "Pet store", version: "1.0.0" },
  servers: [{ url: "/api/v3" }],
  tags: [{ name: "pet" }, { name: "store" }],
  paths: {
    "/pet": {
      put: {
        tags: ["pet"],
        summary: "Update a pet",
        operationId: "updatePet",
        requestBody: { $ref: "#/components/requestBodies/Pet" },
        responses: {
          "200": {
            description: "ok",
            content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } }
          }
        }
      },
      post: {
        tags: ["pet"],
        summary: "Add a pet",
        description: "The store gives it an id.",
        operationId: "addPet",
        requestBody: { $ref: "#/components/requestBodies/Pet" },
        responses: {
          "200": {
            description: "ok",
            content: {
              "application/xml": { schema: { $ref: "#/components/schemas/Pet" } },
              "application/json": { schema: { $ref: "#/components/schemas/Pet" } }
            }
          }
        }
      }
    },
    "/pet/findByStatus": {
      get: {
        tags: ["pet"],
        operationId: "findPetsByStatus",
        deprecated: true,
        description: "Several statuses are separated by commas.",
        parameters: [{
          name: "status",
          in: "query",
          explode: false,
          schema: { type: "array", items: { type: "string", enum: ["available", "sold"] } }
        }],
        responses: {
          "200": {
            description: "ok",
            content: {
              "application/json": { schema: { type: "array", items: { $ref: "#/components/schemas/Pet" } } }
            }
          }
        }
      }
    },
    "/pet/{petId}": {
      parameters: [{ $ref: "#/components/parameters/PetId" }],
      get: {
        tags: ["pet"],
        operationId: "getPetById",
        summary: "Find a pet",
        responses: {
          "200": {
            description: "ok",
            content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } }
          },
          "404": { description: "no pet" }
        }
      },
      delete: {
        tags: ["pet"],
        operationId: "deletePet",
        parameters: [
          { name: "X-Request-ID", in: "header", schema: { type: "string" } },
          { name: "Authorization", in: "header", schema: { type: "string" } }
        ],
        responses: { "204": { description: "gone" } }
      }
    },
    "/pet/{petId}/photo": {
      parameters: [{ $ref: "#/components/parameters/PetId" }],
      post: {
        tags: ["pet"],
        operationId: "uploadPhoto",
        requestBody: {
          required: true,
          content: {
            "multipart/form-data": {
              schema: {
                type: "object",
                properties: {
                  caption: { type: "string" },
                  file: { type: "string", format: "binary" },
                  tags: { type: "array", items: { type: "string" } }
                },
                required: ["file"]
              }
            }
          }
        },
        responses: { "200": { description: "ok" } }
      },
      get: { tags: ["pet"], responses: { "200": { description: "ok", content: { "image/png": {} } } } },
      put: {
        tags: ["pet"],
        requestBody: { content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } } },
        responses: { "200": { description: "ok" } }
      }
    },
    "/store/order": {
      post: {
        tags: ["store"],
        operationId: "placeOrder",
        requestBody: {
          content: {
            "application/x-www-form-urlencoded": {
              schema: {
                type: "object",
                properties: {
                  petId: { type: "integer" },
                  note: { type: "string" },
                  gifts: { type: "array", items: {} }
                }
              }
            }
          }
        },
        responses: { "200": { description: "ok", content: { "text/plain": {} } } }
      }
    }
  },
  components: {
    parameters: {
      PetId: {
        name: "petId",
        in: "path",
        required: true,
        description: "The id of the pet.",
        schema: { type: "string", example: "7" }
      }
    },
    requestBodies: {
      Pet: {
        required: true,
        description: "The pet.",
        content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } }
      }
    },
    schemas: {
      Pet: {
        type: "object",
        required: ["id", "name"],
        properties: {
          id: { type: "integer", format: "int64", readOnly: true },
          name: { type: "string", minLength: 1, example: "doggie" },
          weight: { type: "number", minimum: 0, exclusiveMinimum: true, nullable: true },
          size: { type: "string", enum: ["small", "large"], nullable: true },
          status: { type: "string", enum: ["available", "sold"], default: "available", "x-internal": true },
          secret: { type: "string", writeOnly: true },
          parent: { $ref: "#/components/schemas/Pet" },
          category: { allOf: [{ $ref: "#/components/schemas/Category" }] }
        }
      },
      Category: {
        type: "object",
        properties: {
          name: { type: "string", pattern: "(?P<word>a)" },
          code: { type: "string", pattern: "^(?!x)" },
          slug: { type: "string", pattern: "^([a-z]+)+$" }
        }
      }
    }
  }
}

export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: Http.IncomingHttpHeaders
  readonly body: Buffer
}

export type Reply = (seen: Seen) => {
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
  /** Never ends the answer. */
  readonly hang?: boolean
}

/** A server at `/api/v3`; its URL, and the requests so far. */
export const serve = (reply: Reply) =>
  Effect.acquireRelease(
    Effect.async<{ readonly url: string; readonly seen: Array<Seen>; readonly server: Http.Server }>((resume) => {
      const seen: Array<Seen> = []
      const server = Http.createServer((request, response) => {
        const chunks: Array<Buffer> = []
        request.on("data", (chunk: Buffer) => chunks.push(chunk))
        request.on("end", () => {
          const one = {
            method: request.method!,
            url: request.url!,
            headers: request.headers,
            body: Buffer.concat(chunks)
          }
          seen.push(one)
          const { body, hang, headers = {}, status = 200 } = reply(one)
          response.writeHead(status, headers)
          if (body !== undefined) response.write(body)
          if (hang !== true) response.end()
          else response.flushHeaders()
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ url: `http://127.0.0.1:${port}/api/v3`, seen, server }))
      })
    }),
    ({ server }) =>
      Effect.async<void>((resume) => {
        server.closeAllConnections()
        server.close(() => resume(Effect.void))
      })
  )

export const json = (value: unknown, status = 200) => ({
  status,
  headers: { "content-type": "application/json; charset=utf-8" },
  body: JSON.stringify(value)
})
