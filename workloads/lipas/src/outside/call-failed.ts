// A call to an outside service failed. Its address is not told: dead letters and logs are read by many.
import { EgressError } from '@millrace/egress'

export class CallFailed extends Error {
  override readonly name = 'CallFailed'
  /** Of the answer; undefined: there was none. */
  readonly status: number | undefined

  constructor(message: string, status?: number) {
    super(message)
    this.status = status
  }

  /** Hides what the egress tells of addresses. Anything else, as the reason of an abort, stays what it is. */
  static from(error: unknown, service: string): unknown {
    return error instanceof EgressError ? new CallFailed(`${service} cannot be used: ${error.code}.`) : error
  }
}
