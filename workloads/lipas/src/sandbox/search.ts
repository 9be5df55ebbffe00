// A search server with the part of Elasticsearch's interface that LIPAS uses: indices, documents under external versions,
// bulks, and searches. It keeps everything in memory.
import { type Answer, type Call, objectOf, type Service } from '@millrace/sandbox'
import { type Mappings, rankOf, type SearchQuery } from './search-query.ts'

interface Stored {
  readonly version: number
  readonly source: Readonly<Record<string, unknown>>
}

interface Index {
  readonly mappings: Mappings
  readonly documents: Map<string, Stored>
}

interface Write {
  readonly id: string
  readonly version: number | undefined
  readonly isExternal: boolean
  readonly source: Readonly<Record<string, unknown>>
}

const HEADERS = {
  'content-type': 'application/vnd.elasticsearch+json;compatible-with=9',
  'x-elastic-product': 'Elasticsearch',
}
const MOST_HITS = 1_000
const VERSION = { number: '9.4.0', build_flavor: 'default', build_type: 'sandbox', lucene_version: '10.0.0' }

export class SearchServer implements Service {
  readonly #indices = new Map<string, Index>()
  /** Which items of a bulk find the server too busy. Default: none. */
  rejectsItem: (id: string) => boolean = () => false
  /** Items of bulks that were sent. */
  bulkItems = 0

  answer(call: Call): Answer {
    const [index = '', action = '', id = ''] = call.path.slice(1).split('/').map(decodeURIComponent)
    if (index === '')
      return reply(200, { name: 'sandbox', cluster_name: 'lipas', version: VERSION, tagline: 'Sandbox' })
    if (index === '_bulk') return this.#bulk(call, undefined)
    if (action === '') return this.#index(call, index)
    if (action === '_bulk') return this.#bulk(call, index)
    const found = this.#indices.get(index)
    if (found === undefined) return refusal(404, 'index_not_found_exception', `no such index [${index}]`)
    if (action === '_doc') return this.#document(call, found, id)
    if (action === '_search') return this.#search(call, found)
    if (action === '_refresh') return reply(200, { _shards: { total: 1, successful: 1, failed: 0 } })
    return refusal(400, 'illegal_argument_exception', `the sandbox has no [${action}]`)
  }

  limited(): Answer {
    return refusal(429, 'es_rejected_execution_exception', 'rejected execution: the queue is full')
  }

  /** What is stored under an id, for tests. */
  document(index: string, id: string): Stored | undefined {
    return this.#indices.get(index)?.documents.get(id)
  }

  /** As when a disk is lost: the indices are there, and nothing in them. */
  clear(): void {
    for (const { documents } of this.#indices.values()) documents.clear()
  }

  count(index: string): number {
    return this.#indices.get(index)?.documents.size ?? 0
  }

  #index(call: Call, name: string): Answer {
    const known = this.#indices.get(name)
    if (call.method === 'PUT') {
      if (known !== undefined)
        return refusal(400, 'resource_already_exists_exception', `index [${name}] already exists`)
      this.#indices.set(name, {
        mappings: (objectOf(call)?.mappings ?? {}) as Mappings,
        documents: new Map(),
      })
      return reply(200, { acknowledged: true, shards_acknowledged: true, index: name })
    }
    if (known === undefined) return refusal(404, 'index_not_found_exception', `no such index [${name}]`)
    if (call.method === 'DELETE') {
      this.#indices.delete(name)
      return reply(200, { acknowledged: true })
    }
    return reply(200, { [name]: { aliases: {}, mappings: known.mappings, settings: {} } })
  }

  #document(call: Call, index: Index, id: string): Answer {
    if (call.method === 'GET') {
      const stored = index.documents.get(id)
      if (stored === undefined) return reply(404, { _id: id, found: false })
      return reply(200, { _id: id, _version: stored.version, found: true, _source: stored.source })
    }
    const source = objectOf(call)
    if (source === undefined) return refusal(400, 'parse_exception', 'request body is required')
    const version = call.query.get('version')
    const { status, ...answered } = write(index, {
      ...{ id, source, version: version === null ? undefined : Number(version) },
      isExternal: call.query.get('version_type') === 'external_gte',
    })
    return reply(status, { ...answered, ...(status >= 400 && { status }) })
  }

  #bulk(call: Call, given: string | undefined): Answer {
    const lines = call.body.toString().split('\n')
    if (lines.pop() !== '')
      return refusal(400, 'illegal_argument_exception', 'The bulk request must be terminated by a newline [\\n]')
    const items = []
    for (let at = 0; at + 1 < lines.length; at += 2) {
      const action = JSON.parse(lines[at] as string).index as
        | { _id: string; _index?: string; version?: number; version_type?: string }
        | undefined
      if (action === undefined)
        return refusal(400, 'illegal_argument_exception', 'the sandbox takes the action [index] only')
      items.push({ index: this.#bulkItem(action, given, JSON.parse(lines[at + 1] as string)) })
    }
    return reply(200, { took: 1, errors: items.some(({ index }) => index.status >= 400), items })
  }

  #bulkItem(
    {
      _id: id,
      _index,
      version,
      version_type,
    }: { _id: string; _index?: string; version?: number; version_type?: string },
    given: string | undefined,
    source: Stored['source'],
  ) {
    this.bulkItems += 1
    const index = this.#indices.get(_index ?? given ?? '')
    if (index === undefined) return { _id: id, status: 404, error: { type: 'index_not_found_exception' } }
    if (this.rejectsItem(id)) return { _id: id, status: 429, error: { type: 'es_rejected_execution_exception' } }
    return write(index, { id, source, version, isExternal: version_type === 'external_gte' })
  }

  #search(call: Call, { documents, mappings }: Index): Answer {
    const { query = { match_all: {} }, size = 10 } = (objectOf(call) ?? {}) as { query?: SearchQuery; size?: number }
    const ranked = []
    try {
      for (const [id, { source }] of documents) {
        const score = rankOf(query, source, mappings)
        if (score !== undefined) ranked.push({ _id: id, _score: score, _source: source })
      }
    } catch (error) {
      return refusal(400, 'parsing_exception', (error as Error).message)
    }
    ranked.sort((one, other) => other._score - one._score)
    const hits = ranked.slice(0, Math.min(size, MOST_HITS))
    const total = { value: ranked.length, relation: 'eq' }
    return reply(200, { took: 1, timed_out: false, hits: { total, max_score: hits[0]?._score ?? null, hits } })
  }
}

/** As an item of a bulk answers. */
function write({ documents }: Index, { id, version, isExternal, source }: Write) {
  const stored = documents.get(id)
  if (isExternal && stored !== undefined && version !== undefined && version < stored.version) {
    const reason = `[${id}]: version conflict, current version [${stored.version}] is higher than the one provided [${version}]`
    return { _id: id, status: 409, error: { type: 'version_conflict_engine_exception', reason } }
  }
  const next = isExternal ? (version ?? 1) : (stored?.version ?? 0) + 1
  documents.set(id, { version: next, source })
  const isNew = stored === undefined
  return { _id: id, _version: next, result: isNew ? 'created' : 'updated', status: isNew ? 201 : 200 }
}

const reply = (status: number, value: unknown): Answer => ({ status, headers: HEADERS, body: JSON.stringify(value) })

const refusal = (status: number, type: string, reason: string): Answer =>
  reply(status, { error: { root_cause: [{ type, reason }], type, reason }, status })
