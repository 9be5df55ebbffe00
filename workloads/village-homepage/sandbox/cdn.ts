// A CDN: objects are put, got and deleted by their address. It keeps them in memory, and every tenth upload fails.
import { type Answer, type Call, type Service, text } from '@millrace/sandbox'

export const CDN_TOKEN = 'sandbox'

const FAILS_EVERY = 10
/** A village that runs for days must not fill the memory. */
const MOST_OBJECTS = 1_000

interface CdnOptions {
  readonly misbehaves: boolean
}

interface StoredObject {
  readonly type: string
  readonly bytes: Buffer
}

export class Cdn implements Service {
  readonly #options: CdnOptions
  readonly #objects = new Map<string, StoredObject>()
  #puts = 0
  #fails: number | undefined

  constructor(options: CdnOptions) {
    this.#options = options
  }

  /** The keys of all objects that are there. */
  get keys(): string[] {
    return [...this.#objects.keys()]
  }

  /** The upload of that number fails, counted from now on. */
  failAt(number: number): void {
    this.#fails = this.#puts + number
  }

  answer({ method, path, headers, body }: Call): Answer {
    const key = path.slice(1)
    if (method === 'GET' || method === 'HEAD') return this.#get(key)
    if (headers.authorization !== `Bearer ${CDN_TOKEN}`) return text(401, 'The token is missing or wrong.')
    if (method === 'PUT') return this.#put(key, { type: headers['content-type'] ?? '', bytes: body })
    if (method !== 'DELETE') return text(405, 'Objects can be put, got and deleted.', { allow: 'GET, PUT, DELETE' })
    return text(this.#objects.delete(key) ? 204 : 404, '')
  }

  limited(): Answer {
    return text(429, 'too many requests', { 'retry-after': '30' })
  }

  #get(key: string): Answer {
    const found = this.#objects.get(key)
    if (found === undefined) return text(404, 'There is no such object.')
    const headers = {
      'content-type': found.type,
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
    }
    return { status: 200, headers, body: found.bytes }
  }

  #put(key: string, object: StoredObject): Answer {
    this.#puts += 1
    const fails = this.#puts === this.#fails || (this.#options.misbehaves && this.#puts % FAILS_EVERY === 0)
    if (fails) return text(500, 'The CDN could not store it.')
    if (object.bytes.length === 0) return text(400, 'An object needs a body.')
    this.#objects.set(key, object)
    const [oldest] = this.#objects.keys()
    if (this.#objects.size > MOST_OBJECTS && oldest !== undefined) this.#objects.delete(oldest)
    return text(201, '')
  }
}
