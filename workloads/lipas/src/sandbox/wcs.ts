// The land survey's elevation service: a WCS that renders the terrain of the invented municipality.
import { type Answer, type Call, type Service, text } from '@millrace/sandbox'
import { type Bounds, heightOf, widened, widthOf } from '../geometry/bounds.ts'
import type { Point } from '../geometry/projection.ts'
import { geotiff, NO_DATA } from './geotiff.ts'
import { isInDeepEnd, LAND } from './landscape.ts'
import { heightAt } from './terrain.ts'

const CELL = 2
const MOST_METRES = 1_100
const COVERAGE_ID = 'korkeusmalli_2m'
/** What the survey has heights of: the municipality, and a little beyond its borders. */
const COVERED = widened(LAND, 1_000)
/** One answer in so many fails by itself. */
const FAILS_EVERY = 50

/** Ways in which an answer can be wrong. */
export type Fault = 'cut-off' | 'another-box' | 'html' | 'silent'

export interface WcsOptions {
  /** Whether one answer in 50 is 503. Default false. */
  readonly misbehaves?: boolean
}

export class Wcs implements Service {
  /** What is wrong with every answer from now on. */
  fault: Fault | undefined
  #answers = 0
  readonly #misbehaves: boolean

  constructor({ misbehaves = false }: WcsOptions = {}) {
    this.#misbehaves = misbehaves
  }

  async answer(call: Call): Promise<Answer> {
    this.#answers += 1
    if (this.#misbehaves && this.#answers % FAILS_EVERY === 0) return text(503, 'Service Unavailable')
    if (this.fault === 'silent') await new Promise(() => {})
    return this.#answerTo(call)
  }

  limited(): Answer {
    return text(429, 'Too many requests', { 'retry-after': '2' })
  }

  #answerTo({ query }: Call): Answer {
    const parameters = new Map([...query].map(([name, value]) => [name.toLowerCase(), value]))
    const missing = (name: string) => exception(400, 'MissingParameterValue', `The parameter ${name} is missing.`)
    if (parameters.get('service')?.toUpperCase() !== 'WCS') return missing('service')
    const request = parameters.get('request')
    if (request !== 'GetCoverage' && request !== 'DescribeCoverage')
      return exception(501, 'OperationNotSupported', `The sandbox has GetCoverage and DescribeCoverage.`)
    if (parameters.get('version') !== '2.0.1') return exception(400, 'InvalidParameterValue', 'The version is 2.0.1.')
    if (parameters.get('coverageid') !== COVERAGE_ID)
      return exception(404, 'NoSuchCoverage', `The coverage is ${COVERAGE_ID}.`)
    return request === 'DescribeCoverage' ? description() : this.#coverage(parameters, query)
  }

  #coverage(parameters: ReadonlyMap<string, string>, query: URLSearchParams): Answer {
    if (parameters.get('format') !== 'image/tiff')
      return exception(400, 'InvalidParameterValue', 'The format is image/tiff.')
    const bounds = boundsFrom(query)
    if (bounds === undefined || !(widthOf(bounds) > 0 && heightOf(bounds) > 0))
      return exception(404, 'InvalidSubsetting', 'Give SUBSET=E(from,to) and SUBSET=N(from,to).')
    if (widthOf(bounds) > MOST_METRES || heightOf(bounds) > MOST_METRES)
      return exception(400, 'InvalidParameterValue', `A box has at most ${MOST_METRES} by ${MOST_METRES} m.`)
    if (!isCovered(bounds)) return exception(404, 'InvalidSubsetting', 'The box is not in the coverage.')
    if (this.fault === 'html')
      return { status: 200, headers: { 'content-type': 'text/html' }, body: '<!doctype html><h1>Maintenance</h1>' }
    const sent = this.fault === 'another-box' ? moved(bounds, 250) : bounds
    const tiff = geotiff(sent, CELL, render(sent))
    const body = this.fault === 'cut-off' ? tiff.subarray(0, Math.floor(tiff.length * 0.6)) : tiff
    return { status: 200, headers: { 'content-type': 'image/tiff' }, body }
  }
}

/** The heights of the centres of cells, from the north-western corner on. */
function render(bounds: Bounds): Float32Array {
  const [width, height] = [widthOf(bounds) / CELL, heightOf(bounds) / CELL]
  const heights = new Float32Array(width * height)
  for (let row = 0; row < height; row += 1) {
    const north = bounds.maxNorth - (row + 0.5) * CELL
    for (let column = 0; column < width; column += 1) {
      const point: Point = [bounds.minEast + (column + 0.5) * CELL, north]
      heights[row * width + column] = isInDeepEnd(point) ? NO_DATA : heightAt(point)
    }
  }
  return heights
}

/** The box asked for, on the edges of cells. Undefined: an axis is missing. */
function boundsFrom(query: URLSearchParams): Bounds | undefined {
  const axes = new Map<string, readonly [number, number]>()
  for (const [name, value] of query) {
    const found = /^([EN])\((-?[\d.]+),(-?[\d.]+)\)$/.exec(value)
    if (name.toLowerCase() === 'subset' && found !== null)
      axes.set(found[1] as string, [Number(found[2]), Number(found[3])])
  }
  const [east, north] = [axes.get('E'), axes.get('N')]
  if (east === undefined || north === undefined) return undefined
  const snapped = (metres: number): number => Math.round(metres / CELL) * CELL
  return {
    minEast: snapped(east[0]),
    minNorth: snapped(north[0]),
    maxEast: snapped(east[1]),
    maxNorth: snapped(north[1]),
  }
}

const isCovered = ({ minEast, minNorth, maxEast, maxNorth }: Bounds): boolean =>
  minEast >= COVERED.minEast &&
  minNorth >= COVERED.minNorth &&
  maxEast <= COVERED.maxEast &&
  maxNorth <= COVERED.maxNorth

const moved = ({ minEast, minNorth, maxEast, maxNorth }: Bounds, by: number): Bounds => ({
  minEast: minEast + by,
  minNorth: minNorth + by,
  maxEast: maxEast + by,
  maxNorth: maxNorth + by,
})

const XML = { 'content-type': 'text/xml; charset=utf-8' }
const OWS = 'xmlns:ows="http://www.opengis.net/ows/2.0" version="2.0.0"'

const exception = (status: number, code: string, said: string): Answer => ({
  ...{ status, headers: XML },
  body: `<?xml version="1.0" encoding="UTF-8"?>
<ows:ExceptionReport ${OWS}><ows:Exception exceptionCode="${code}"><ows:ExceptionText>${said}</ows:ExceptionText></ows:Exception></ows:ExceptionReport>
`,
})

const description = (): Answer => ({
  ...{ status: 200, headers: XML },
  body: `<?xml version="1.0" encoding="UTF-8"?>
<wcs:CoverageDescriptions xmlns:wcs="http://www.opengis.net/wcs/2.0" xmlns:gml="http://www.opengis.net/gml/3.2"><wcs:CoverageDescription gml:id="${COVERAGE_ID}">
<gml:boundedBy><gml:Envelope srsName="http://www.opengis.net/def/crs/EPSG/0/3067" axisLabels="E N" uomLabels="m m" srsDimension="2"><gml:lowerCorner>${COVERED.minEast} ${COVERED.minNorth}</gml:lowerCorner><gml:upperCorner>${COVERED.maxEast} ${COVERED.maxNorth}</gml:upperCorner></gml:Envelope></gml:boundedBy>
<wcs:CoverageId>${COVERAGE_ID}</wcs:CoverageId><wcs:ServiceParameters><wcs:CoverageSubtype>RectifiedGridCoverage</wcs:CoverageSubtype><wcs:nativeFormat>image/tiff</wcs:nativeFormat></wcs:ServiceParameters>
</wcs:CoverageDescription></wcs:CoverageDescriptions>
`,
})
