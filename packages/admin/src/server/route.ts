// An endpoint with its handler. A workload adds routes of the same kind.
import type { Millrace } from 'millrace'
import type { z } from 'zod'
import type { Endpoint } from '../contract/endpoint.ts'
import type { Caller } from './caller.ts'

export interface CallContext {
  readonly millrace: Millrace
  readonly caller: Caller
  /** The caller's name: pass it as `by`. */
  readonly by: string
  readonly request: Request
  readonly requestId: string
}

/** As the answer is before it is JSON: a Date for a time. */
export type Served<T> = unknown extends T
  ? unknown
  : T extends string
    ? string extends T
      ? string | Date
      : T
    : T extends readonly unknown[]
      ? { readonly [Key in keyof T]: Served<T[Key]> }
      : T extends object
        ? // Further keys are allowed anyway.
          { readonly [Key in keyof T as string extends Key ? never : Key]: Served<T[Key]> }
        : T

/** An answer with another status than the endpoint's. */
export class Answer<Body> {
  readonly status: number
  readonly body: Body

  constructor(status: number, body: Body) {
    this.status = status
    this.body = body
  }
}

type Handled<E extends Endpoint> = Served<z.output<E['output']>>

export interface Route<E extends Endpoint = Endpoint> {
  readonly endpoint: E
  handle(input: z.output<E['input']>, context: CallContext): Promise<Handled<E> | Answer<Handled<E>> | Response>
}

export const route = <E extends Endpoint>(endpoint: E, handle: Route<E>['handle']): Route =>
  ({ endpoint, handle }) as unknown as Route

type Given<T> = { [Key in keyof T]: Exclude<T[Key], undefined> }

/** Without the keys that were not given. */
export function given<T extends object>(values: T): Given<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as Given<T>
}
