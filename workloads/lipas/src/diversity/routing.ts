// The router: an OSRM server with walking distances. One request asks for a table of sources and destinations.
import { type EgressFetch, readJson } from '@millrace/egress'
import { z } from 'zod'
import { type Point, toWorld } from '../geometry/projection.ts'
import { askedToWait } from '../outside/asked-to-wait.ts'
import { CallFailed } from '../outside/call-failed.ts'

const SERVICE = 'The router'
const BUDGET = { headersMs: 60_000, idleMs: 30_000, totalMs: 120_000, maxBytes: 4_000_000, maxRedirects: 0 }
/** Servers take 100 coordinates at a time unless they are told otherwise: half for squares, half for places. */
const MOST_DESTINATIONS = 50

const metres = z.array(z.array(z.number().nullable()))
const answer = z.object({ code: z.string(), distances: metres.optional() })

/** In metres, by source and destination; null: there is no way on foot. */
export type Table = readonly (readonly (number | null)[])[]

export class Router {
  readonly #url: string
  readonly #fetch: EgressFetch

  constructor({ url }: { readonly url: string }, fetch: EgressFetch) {
    this.#url = url.replace(/\/$/, '')
    this.#fetch = fetch
  }

  async table(sources: readonly Point[], destinations: readonly Point[], signal: AbortSignal): Promise<Table> {
    const rows: (number | null)[][] = sources.map(() => [])
    for (let from = 0; from < destinations.length; from += MOST_DESTINATIONS) {
      const part = await this.#ask(sources, destinations.slice(from, from + MOST_DESTINATIONS), signal)
      for (const [at, row] of rows.entries()) row.push(...(part[at] ?? []))
    }
    return rows
  }

  async #ask(sources: readonly Point[], destinations: readonly Point[], signal: AbortSignal): Promise<Table> {
    try {
      const response = await this.#fetch(this.#urlOf(sources, destinations), { signal, budget: BUDGET })
      if (response.ok) return tableOf(await readJson(response), sources.length, destinations.length)
      await response.body?.cancel()
      throw (
        askedToWait(response, { service: SERVICE }) ??
        new CallFailed(`${SERVICE} answered ${response.status}.`, response.status)
      )
    } catch (error) {
      throw CallFailed.from(error, SERVICE)
    }
  }

  #urlOf(sources: readonly Point[], destinations: readonly Point[]): string {
    const coordinates = [...sources, ...destinations].map((point) => toWorld(point).join(',')).join(';')
    const range = (from: number, count: number) => Array.from({ length: count }, (_, i) => from + i).join(';')
    const query = new URLSearchParams({
      sources: range(0, sources.length),
      destinations: range(sources.length, destinations.length),
      annotations: 'distance,duration',
    })
    return `${this.#url}/table/v1/foot/${coordinates}?${query}`
  }
}

function tableOf(json: unknown, rows: number, columns: number): Table {
  const parsed = answer.safeParse(json)
  const { code = 'no code', distances } = parsed.data ?? {}
  if (distances?.length === rows && distances.every((row) => row.length === columns)) return distances
  throw new CallFailed(`${SERVICE} did not send a table of ${rows} by ${columns} distances (${code}).`)
}
