// The channels of a server and the connections that follow them.
import type { Millrace } from 'millrace'
import { type Caller, demandRole } from '../caller.ts'
import { Refusal } from '../problem.ts'
import { Channel } from './channel.ts'
import { Connection } from './connection.ts'
import { topicNamed, topics } from './topics.ts'

const MOST_CONNECTIONS = 200
/** So that one caller, who may see a single tenant, does not take the streams of all others. */
const MOST_OF_CALLER = 50
const MOST_TOPICS = 20
/** Jobs and operations: each is a poller of its own, which reads every second. */
const MOST_THINGS = 5
const MOST_THINGS_OF_ALL = 100
const isThing = (name: string): boolean => name.includes(':')

export class StreamHub {
  readonly #millrace: Millrace
  readonly #channels = new Map<string, Channel>()
  readonly #connections = new Map<Connection, Caller['name']>()
  #isClosed = false

  constructor(millrace: Millrace) {
    this.#millrace = millrace
  }

  /** `isStillValid`: asked now and then, because a token may be revoked while its stream is open. */
  open(
    request: { topics: string; lastEventId: string | null },
    caller: Caller,
    isStillValid: () => Promise<boolean>,
  ): Response {
    const names = [...new Set(request.topics.split(',').map((name) => name.trim()))]
    this.#demandRoom(names, caller)
    const seen = versionsIn(request.lastEventId)
    // Before anything is opened: a topic may be refused.
    const joins = names.map((name) => this.#joining(name, caller))
    const connection = new Connection({
      isStillValid,
      onEnd: () => {
        this.#connections.delete(connection)
        this.#dropIdle()
      },
    })
    this.#connections.set(connection, caller.name)
    for (const { name, channel } of joins) connection.follow(name, channel(), seen.get(name))
    return connection.response
  }

  /** Tells every listener that the server stops, and ends the streams. */
  close(): void {
    this.#isClosed = true
    for (const connection of this.#connections.keys()) connection.end('the server stops')
  }

  /** For tests and the curious: how many pollers run. */
  get channels(): number {
    return this.#channels.size
  }

  #joining(name: string, caller: Caller): { name: string; channel: () => Channel } {
    const topic = topicNamed(name)
    if (topic === undefined) {
      const known = [...Object.keys(topics), 'job:ID', 'bulk:ID'].join(', ')
      throw new Refusal(400, 'unknown_topic', `There is no topic "${name}". Topics are ${known}.`)
    }
    if (topic.role !== undefined) demandRole(caller, topic.role)
    const { tenants } = caller
    if (tenants !== null && !topic.isForTenants)
      throw new Refusal(
        403,
        'tenant_scope',
        `The topic ${name} is about every tenant, and ${caller.name} may see ${tenants.join(', ')} only.`,
      )
    const key = JSON.stringify([name, tenants === null ? null : [...tenants].sort()])
    const channel = () => {
      const found = this.#channels.get(key) ?? new Channel({ millrace: this.#millrace, topic, tenants })
      this.#channels.set(key, found)
      return found
    }
    return { name, channel }
  }

  #demandRoom(names: readonly string[], { name }: Caller): void {
    if (this.#isClosed) throw new Refusal(503, 'stopping', 'The server stops: connect again to another one.')
    if (this.#connections.size >= MOST_CONNECTIONS)
      throw new Refusal(503, 'too_many_streams', `There are ${MOST_CONNECTIONS} open streams: close some, or wait.`)
    if ([...this.#connections.values()].filter((each) => each === name).length >= MOST_OF_CALLER)
      throw new Refusal(429, 'too_many_streams', `${name} has ${MOST_OF_CALLER} open streams: close some.`)
    if (names.length > MOST_TOPICS)
      throw new Refusal(400, 'too_many_topics', `A stream has at most ${MOST_TOPICS} topics: open another one.`)
    const things = names.filter(isThing).length
    if (things > MOST_THINGS)
      throw new Refusal(
        400,
        'too_many_topics',
        `A stream follows at most ${MOST_THINGS} single jobs and operations: the topics jobs and bulk tell of many.`,
      )
    const followed = [...this.#channels.keys()].filter((key) => isThing(JSON.parse(key)[0])).length
    if (things > 0 && followed + things > MOST_THINGS_OF_ALL)
      throw new Refusal(
        503,
        'too_many_streams',
        `${followed} single jobs and operations are followed already: wait, or close some.`,
      )
  }

  #dropIdle(): void {
    for (const [key, channel] of this.#channels) if (channel.isIdle) this.#channels.delete(key)
  }
}

/** 'queues=ab12-3,jobs=ab12-9', as `Connection` writes it. Nonsense is as good as nothing. */
function versionsIn(lastEventId: string | null): Map<string, string> {
  const pairs = (lastEventId ?? '').slice(0, 2_000).split(',')
  return new Map(pairs.map((pair): [string, string] => [pair.split('=')[0] ?? '', pair.split('=')[1] ?? '']))
}
