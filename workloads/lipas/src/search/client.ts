// The search service: the official Elasticsearch client behind four calls, so that another product is another file.
// Documents carry an external version: an older one never overwrites a newer one.
import { setTimeout as pause } from 'node:timers/promises'
import { Client, errors } from '@elastic/elasticsearch'
import { INDICES, type IndexName } from './indices.ts'
import { SearchFailed } from './search-failed.ts'

export interface Document {
  readonly id: string
  /** Not below that of what is stored, or the document is older news. */
  readonly version: number
  readonly source: Readonly<Record<string, unknown>>
}

/** `older`: the service has a newer one, which stays. That is no error. */
export type Written = 'written' | 'older'

export interface BulkWritten {
  readonly written: number
  readonly older: number
}

export interface Hit<Source> {
  readonly id: string
  readonly score: number
  readonly source: Source
}

export interface Found<Source> {
  /** Of all that match, not only of those returned. */
  readonly total: number
  readonly hits: readonly Hit<Source>[]
}

/** A query of the search service, such as { match: { name: 'hall' } }. */
export type Query = Readonly<Record<string, unknown>>

interface Call {
  readonly signal?: AbortSignal
}

/** Every call throws SearchFailed if the service cannot be reached, or refuses. */
export interface SearchClient {
  /** Creates what is missing. The other calls do it by themselves, once in a process. */
  ensureIndices(): Promise<void>
  upsert(index: IndexName, document: Document, call?: Call): Promise<Written>
  /** Sends again what the service was too busy for, and nothing else. */
  bulk(index: IndexName, documents: readonly Document[], call?: Call): Promise<BulkWritten>
  search<Source>(index: IndexName, query: Query, options?: Call & { size?: number }): Promise<Found<Source>>
  /** Makes what was written visible to searches at once. Otherwise it takes about a second. */
  refresh(index: IndexName): Promise<void>
  close(): Promise<void>
}

export interface SearchOptions {
  readonly url: string
  readonly apiKey?: string | undefined
  /** Before a second round of a bulk; each further one waits twice as long. Default 250. */
  readonly pauseMs?: number
}

const REQUEST_MS = 30_000
const BULK_ROUNDS = 5
const EXTERNAL = 'external_gte'
const [TOO_MANY, CONFLICT] = [429, 409]

export function openSearch(options: SearchOptions): SearchClient {
  return new ElasticSearch(options)
}

class ElasticSearch implements SearchClient {
  readonly #client: Client
  readonly #pauseMs: number
  #ensured: Promise<void> | undefined

  constructor({ url, apiKey, pauseMs = 250 }: SearchOptions) {
    // Jobs try again by themselves, so the client does not.
    this.#client = new Client({
      ...{ node: url, maxRetries: 0, requestTimeout: REQUEST_MS, enableMetaHeader: false },
      ...(apiKey !== undefined && { auth: { apiKey } }),
    })
    this.#pauseMs = pauseMs
  }

  ensureIndices(): Promise<void> {
    this.#ensured ??= this.#create().catch((error) => {
      this.#ensured = undefined
      throw error
    })
    return this.#ensured
  }

  async upsert(index: IndexName, { id, version, source }: Document, call: Call = {}): Promise<Written> {
    await this.ensureIndices()
    const given = { index: INDICES[index].name, id, document: source, version, version_type: EXTERNAL } as const
    try {
      await this.#client.index(given, { ...call })
      return 'written'
    } catch (error) {
      if (error instanceof errors.ResponseError && error.statusCode === CONFLICT) return 'older'
      throw SearchFailed.from(error)
    }
  }

  async bulk(index: IndexName, documents: readonly Document[], call: Call = {}): Promise<BulkWritten> {
    await this.ensureIndices()
    let [left, written, older] = [documents, 0, 0]
    for (let round = 1; left.length > 0; round += 1) {
      const sent = await this.#bulkOnce(index, left, call)
      written += sent.written
      older += sent.older
      left = sent.tooMany
      if (left.length === 0) break
      if (round === BULK_ROUNDS) throw SearchFailed.tooBusy(left.length, documents.length)
      await pause(this.#pauseMs * 2 ** (round - 1), undefined, { ...call })
    }
    return { written, older }
  }

  async search<Source>(
    index: IndexName,
    query: Query,
    { size = 20, ...call }: Call & { size?: number } = {},
  ): Promise<Found<Source>> {
    await this.ensureIndices()
    const given = { index: INDICES[index].name, query, size, track_total_hits: true }
    const { hits } = await this.#client.search<Source>(given, call).catch(SearchFailed.rethrow)
    const total = typeof hits.total === 'number' ? hits.total : (hits.total?.value ?? hits.hits.length)
    return {
      total,
      hits: hits.hits.map(({ _id, _score, _source }) => ({
        ...{ id: _id ?? '', score: _score ?? 0, source: _source as Source },
      })),
    }
  }

  async refresh(index: IndexName): Promise<void> {
    await this.ensureIndices()
    await this.#client.indices.refresh({ index: INDICES[index].name }).catch(SearchFailed.rethrow)
  }

  async close(): Promise<void> {
    await this.#client.close()
  }

  async #create(): Promise<void> {
    for (const { name, mappings } of Object.values(INDICES)) {
      try {
        await this.#client.indices.create({ index: name, mappings })
      } catch (error) {
        // Another process was first, or another day.
        if (error instanceof errors.ResponseError && typeOf(error) === 'resource_already_exists_exception') continue
        throw SearchFailed.from(error)
      }
    }
  }

  async #bulkOnce(index: IndexName, documents: readonly Document[], call: Call) {
    const operations = documents.flatMap(({ id, version, source }) => [
      { index: { _id: id, version, version_type: EXTERNAL } as const },
      source,
    ])
    const answer = await this.#client.bulk({ index: INDICES[index].name, operations }, { ...call }).catch((error) => {
      if (error instanceof errors.ResponseError && error.statusCode === TOO_MANY) return undefined
      throw SearchFailed.from(error)
    })
    // The service did not even look at it.
    if (answer === undefined) return { written: 0, older: 0, tooMany: documents }
    const tooMany: Document[] = []
    let [written, older] = [0, 0]
    for (const [at, { index: item }] of answer.items.entries()) {
      const { status = 500, error } = item ?? {}
      if (status < 300) written += 1
      else if (status === CONFLICT) older += 1
      else if (status === TOO_MANY) tooMany.push(documents[at] as Document)
      else throw SearchFailed.item(status, error?.type)
    }
    return { written, older, tooMany }
  }
}

const typeOf = ({ body }: errors.ResponseError): unknown =>
  (body as { error?: { type?: unknown } } | undefined)?.error?.type
