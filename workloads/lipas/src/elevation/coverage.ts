// The elevation service: a Web Coverage Service (WCS 2.0.1) that sends pieces of the 2 m elevation model as GeoTIFF.
import type { EgressFetch } from '@millrace/egress'
import { Unrecoverable } from 'millrace'
import { limits } from '../contracts.ts'
import type { Bounds } from '../geometry/bounds.ts'
import type { Addresses } from '../outside/addresses.ts'
import { askedToWait } from '../outside/asked-to-wait.ts'
import { CallFailed } from '../outside/call-failed.ts'
import { elevationRequests } from '../telemetry/metrics.ts'
import { Raster, RasterUnusable } from './raster.ts'

const COVERAGE_ID = 'korkeusmalli_2m'
const BUDGET = { headersMs: 60_000, idleMs: 30_000, totalMs: 120_000, maxBytes: 4_000_000, maxRedirects: 0 }
const SERVICE = 'The elevation service'
/** The exceptions by which a server says that a box is not in its coverage. */
const OUTSIDE = ['InvalidSubsetting', 'InvalidExtent', 'NoSuchCoverage']

export class Coverage {
  readonly #elevation: Addresses['elevation']
  readonly #fetch: EgressFetch

  constructor(elevation: Addresses['elevation'], fetch: EgressFetch) {
    this.#elevation = elevation
    this.#fetch = fetch
  }

  /** The ground of a box. Throws Unrecoverable if the service says that it has no such ground. */
  async raster(bounds: Bounds, signal: AbortSignal): Promise<Raster> {
    try {
      const raster = await this.#get(bounds, signal)
      elevationRequests.inc({ result: 'ok' })
      return raster
    } catch (error) {
      elevationRequests.inc({ result: error instanceof Unrecoverable ? 'no_data' : 'failed' })
      throw CallFailed.from(error, SERVICE)
    }
  }

  async #get(bounds: Bounds, signal: AbortSignal): Promise<Raster> {
    const response = await this.#fetch(this.#urlOf(bounds), {
      headers: { accept: 'image/tiff', ...this.#key() },
      ...{ signal, budget: BUDGET },
    })
    const type = response.headers.get('content-type') ?? ''
    if (response.ok && type.startsWith('image/tiff')) return Raster.read(await response.arrayBuffer(), bounds)
    const wait = askedToWait(response, { service: SERVICE, limit: limits.elevation.name })
    const text = await response.text()
    throw wait ?? failureOf({ status: response.status, type, text })
  }

  #urlOf({ minEast, minNorth, maxEast, maxNorth }: Bounds): URL {
    const url = new URL(this.#elevation.url)
    const parameters = {
      ...{ service: 'WCS', version: '2.0.1', request: 'GetCoverage', CoverageID: COVERAGE_ID, format: 'image/tiff' },
    }
    for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value)
    url.searchParams.append('SUBSET', `E(${minEast},${maxEast})`)
    url.searchParams.append('SUBSET', `N(${minNorth},${maxNorth})`)
    return url
  }

  /** The land survey takes its API key as the name of a user without password: so it stands in no address. */
  #key(): Record<string, string> {
    const { apiKey } = this.#elevation
    return apiKey === undefined ? {} : { authorization: `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}` }
  }
}

function failureOf({ status, type, text }: { status: number; type: string; text: string }): Error {
  const code = /<(?:\w+:)?Exception\b[^>]*\bexceptionCode="([\w.-]{1,60})"/.exec(text)?.[1]
  if (code !== undefined && OUTSIDE.includes(code))
    return new Unrecoverable(`${SERVICE} has no heights there (${code}): the place lies outside of its coverage.`)
  if (code !== undefined) return new CallFailed(`${SERVICE} answered ${status} with the exception ${code}.`, status)
  if (status >= 400) return new CallFailed(`${SERVICE} answered ${status}.`, status)
  return new RasterUnusable(`${SERVICE} sent ${type.split(';')[0] || 'something'} instead of a GeoTIFF.`)
}
