// What a Redis says of itself: whether it may evict what we keep there, and what it would lose.

export type Durability = 'memory' | 'aof-everysec' | 'aof-always'

export interface RedisFacts {
  readonly version: string
  /** Changes with every start of the server. */
  readonly runId: string
  readonly role: 'master' | 'replica'
  /** What a crash of the server may take: all, about a second, nothing. */
  readonly durability: Durability
  /** Anything but 'noeviction' may throw away keys when memory runs short. */
  readonly evictionPolicy: string
}

export type Ask = (args: readonly string[]) => Promise<unknown>

export async function readFacts(ask: Ask): Promise<RedisFacts> {
  const info = fieldsOf(String(await ask(['INFO'])))
  const field = (name: string) => info.get(name) ?? ''
  return {
    version: field('redis_version'),
    runId: field('run_id'),
    role: field('role') === 'slave' ? 'replica' : 'master',
    durability: field('aof_enabled') === '1' ? await aofDurability(ask) : 'memory',
    evictionPolicy: field('maxmemory_policy') || 'noeviction',
  }
}

/** A provider that hides CONFIG leaves the weaker promise. */
async function aofDurability(ask: Ask): Promise<Durability> {
  const answer = await ask(['CONFIG', 'GET', 'appendfsync']).catch(() => undefined)
  return JSON.stringify(answer ?? '').includes('"always"') ? 'aof-always' : 'aof-everysec'
}

function fieldsOf(info: string): Map<string, string> {
  const lines = info.split('\r\n').filter((line) => line !== '' && !line.startsWith('#'))
  return new Map(lines.map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1)]))
}
