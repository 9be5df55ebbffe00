// The buffer's part of Redis: a stream for each tenant, whose turn it is, and how many entries there are.
import type { Redis } from '../connection/connect.ts'
import { scriptNamed } from '../connection/script.ts'

const add = scriptNamed('buffer_add')
const done = scriptNamed('buffer_done')

export interface StreamEntry {
  /** '<milliseconds>-<number>' by the clock of Redis. */
  readonly streamId: string
  readonly text: string
}

export interface StreamBounds {
  readonly entries: number
  readonly perTenant: number
}

export class Streams {
  readonly #redis: Redis
  readonly #base: string

  constructor(redis: Redis, buffer: string) {
    this.#redis = redis
    // Braces keep the keys of a buffer together, if a server behind the address is a cluster.
    this.#base = `{${redis.prefix}:buffer:${buffer}}`
  }

  /** The tenant '' is none. */
  add(tenant: string, text: string, { entries, perTenant }: StreamBounds): Promise<string> {
    return this.#redis.runScript(add, this.#keys(tenant), [tenant, String(entries), String(perTenant), text])
  }

  /** The tenants with entries, the one first that was not served for longest. */
  turns(count: number): Promise<string[]> {
    return this.#redis.run(['ZRANGE', this.#active, '0', String(count - 1)])
  }

  async read(tenant: string, count: number): Promise<StreamEntry[]> {
    return entriesOf(await this.#redis.run(['XRANGE', this.#stream(tenant), '-', '+', 'COUNT', String(count)]))
  }

  async has(tenant: string, streamId: string): Promise<boolean> {
    return entriesOf(await this.#redis.run(['XRANGE', this.#stream(tenant), streamId, streamId])).length > 0
  }

  /** `at`: the tenant's new place in the row. Answers how many entries it has left. */
  done(tenant: string, streamIds: readonly string[], at: number): Promise<number> {
    return this.#redis.runScript(done, this.#keys(tenant), [tenant, String(at), ...streamIds])
  }

  async count(): Promise<number> {
    return Number((await this.#redis.run<string | null>(['GET', this.#count])) ?? 0)
  }

  get #active(): string {
    return `${this.#base}:active`
  }

  get #count(): string {
    return `${this.#base}:count`
  }

  #stream(tenant: string): string {
    return `${this.#base}:t:${tenant}`
  }

  #keys(tenant: string): string[] {
    return [this.#stream(tenant), this.#active, this.#count]
  }
}

function entriesOf(answer: unknown): StreamEntry[] {
  return (answer as [string, string[]][]).map(([streamId, fields]) => ({ streamId, text: fields[1] ?? '' }))
}

/** When Redis took it. */
export const acceptedAt = (streamId: string): Date => new Date(Number(streamId.split('-', 1)[0]))

/** The order in which Redis took them. */
export function isBefore(a: string, b: string): boolean {
  const [aMs = '0', aNumber = '0'] = a.split('-')
  const [bMs = '0', bNumber = '0'] = b.split('-')
  return aMs === bMs ? BigInt(aNumber) < BigInt(bNumber) : BigInt(aMs) < BigInt(bMs)
}
