// Writes the jobs that handlers enqueue, with the same errors as those of the client.
import type { Enqueuer } from '../client/enqueuer.ts'
import { typed } from '../client/typed-errors.ts'

export type HandlerEnqueuer = Pick<Enqueuer, 'enqueue' | 'enqueuePrepared'>

export function handlerEnqueuer(enqueuer: Enqueuer, schema: string): HandlerEnqueuer {
  return {
    enqueue: (contract, payload, options) => typed(enqueuer.enqueue(contract, payload, options), schema),
    enqueuePrepared: (prepared) => typed(enqueuer.enqueuePrepared(prepared), schema),
  }
}
