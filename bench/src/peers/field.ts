// Everybody who takes part in a run, with the Redis that one of them needs. Closing ends all of it.
import type { Bench } from '../bench.ts'
import { type Contestant, contestants } from './contestants.ts'
import type { Skipped } from './document.ts'
import { Entrant } from './entrant.ts'
import { installPeers } from './install.ts'
import { findRedis, type Redis, startRedis } from './redis.ts'

const NO_REDIS = 'redis-server is not on the PATH'

export function whoTakesPart(hasRedis: boolean): { present: readonly Contestant[]; skipped: readonly Skipped[] } {
  const present = contestants.filter(({ store }) => store !== 'redis' || hasRedis)
  const absent = contestants.filter((contestant) => !present.includes(contestant))
  return { present, skipped: absent.map(({ name }) => ({ name, reason: NO_REDIS })) }
}

export class Field implements AsyncDisposable {
  readonly entrants: readonly Entrant[]
  readonly skipped: readonly Skipped[]
  readonly redisVersion: string | undefined
  readonly #redis: Redis | undefined

  private constructor(entrants: readonly Entrant[], { redis, redisVersion, skipped }: Surroundings) {
    this.entrants = entrants
    this.skipped = skipped
    this.redisVersion = redisVersion
    this.#redis = redis
  }

  static async open(bench: Bench): Promise<Field> {
    const suiteNode = await installPeers(bench.progress)
    const redisVersion = findRedis()
    const redis = redisVersion === undefined ? undefined : await startRedis()
    const { present, skipped } = whoTakesPart(redis !== undefined)
    const redisUrl = redis?.url ?? ''
    const entrants = present.map((contestant) => {
      const node = contestant.role === 'oursOnInstalledNode' ? process.execPath : suiteNode
      return new Entrant(contestant, { bench, redisUrl, node })
    })
    return new Field(entrants, { redis, redisVersion, skipped })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.entrants.map((entrant) => entrant[Symbol.asyncDispose]()))
    await this.#redis?.[Symbol.asyncDispose]()
  }
}

interface Surroundings {
  readonly redis: Redis | undefined
  readonly redisVersion: string | undefined
  readonly skipped: readonly Skipped[]
}
