// An operation as a value. The server binds a handler to it; routes, the OpenAPI document, the typed client and the reference
// page all derive from it.
import type { z } from 'zod'

export type Role = 'viewer' | 'operator' | 'admin'
export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface Endpoint<Input extends z.ZodObject = z.ZodObject, Output extends z.ZodType = z.ZodType> {
  readonly method: Method
  /** From the root of the server, with parameters as `:name`. */
  readonly path: string
  /** Path parameters by name; the other keys are the query of a GET, and the JSON body of all other methods. */
  readonly input: Input
  /** Of the JSON answer. Times are ISO texts. */
  readonly output: Output
  /** The least role that may call it. 'public': everybody may, without a token. */
  readonly permission: Role | 'public'
  /**
   * 'tenant': callers that are limited to tenants may call it, and its handler shows and changes only things of theirs.
   * 'all': it concerns every tenant, and such callers are refused.
   */
  readonly scope: 'tenant' | 'all'
  /** What it does, in a line without a full stop. */
  readonly summary: string
  /** More about it, in sentences. */
  readonly description?: string
  /** Of a success. Default 200. */
  readonly status?: 200 | 201
  /** What it answers with, if it is not JSON. */
  readonly media?: 'text/event-stream' | 'text/csv'
}

export function endpoint<Input extends z.ZodObject, Output extends z.ZodType>(
  value: Endpoint<Input, Output>,
): Endpoint<Input, Output> {
  return value
}

export type InputOf<E extends Endpoint> = z.input<E['input']>
export type AnswerOf<E extends Endpoint> = z.output<E['output']>

/** Names of the parameters in a path. */
export const parametersOf = (path: string): string[] => [...path.matchAll(/:(\w+)/g)].map((match) => match[1] as string)
