// The stand-ins for elevation and routing, as any client of their interfaces sees them.
import { expect, onTestFinished, test } from 'vitest'
import { type Point, toWorld } from '#src/geometry/projection'
import { LAND } from '#src/sandbox/landscape'
import { startSandbox } from '#src/sandbox/server'

async function setup(misbehaves = false) {
  const sandbox = await startSandbox({ misbehaves })
  onTestFinished(() => sandbox.stop())
  const ask = async (base: string | undefined, rest: string) => {
    const response = await fetch(`${base}${rest}`)
    return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
  }
  return {
    sandbox,
    wcs: (query: string) => ask(sandbox.variables.LIPAS_WCS_URL, `?${query}`),
    osrm: (rest: string) => ask(sandbox.variables.LIPAS_OSRM_FOOT_URL, rest),
  }
}

const WCS = 'SERVICE=WCS&VERSION=2.0.1'
const box = (east: number, side: number): string =>
  `SUBSET=E(${LAND.minEast + east},${LAND.minEast + east + side})&SUBSET=N(${LAND.minNorth},${LAND.minNorth + side})`
const coverage = (east: number, side: number, id = 'korkeusmalli_2m'): string =>
  `${WCS}&REQUEST=GetCoverage&COVERAGEID=${id}&FORMAT=image/tiff&${box(east, side)}`

test('the elevation service describes its coverage, and sends pieces of it as GeoTIFF', async () => {
  const { wcs } = await setup()
  const described = await wcs(`${WCS}&request=DescribeCoverage&coverageId=korkeusmalli_2m`)
  expect(described).toMatchObject({ status: 200, text: expect.stringContaining('EPSG/0/3067') })
  const piece = await wcs(coverage(0, 100))
  expect(piece).toMatchObject({ status: 200, type: 'image/tiff' })
  expect(piece.text.slice(0, 2)).toBe('II')
})

test('what the elevation service cannot do is an exception report with the code of the standard', async () => {
  const { wcs } = await setup()
  const codes: ReadonlyArray<[query: string, status: number, code: string]> = [
    ['request=GetCoverage', 400, 'MissingParameterValue'],
    [`${WCS}&request=GetMap`, 501, 'OperationNotSupported'],
    [coverage(0, 100, 'other'), 404, 'NoSuchCoverage'],
    [coverage(0, 1_102), 400, 'InvalidParameterValue'],
    [coverage(-5_000, 100), 404, 'InvalidSubsetting'],
    [coverage(0, 0), 404, 'InvalidSubsetting'],
    [coverage(0, 100).replace('SUBSET=N', 'SUBSET=X'), 404, 'InvalidSubsetting'],
  ]
  for (const [query, status, code] of codes)
    expect(await wcs(query), query).toMatchObject({ status, text: expect.stringContaining(`exceptionCode="${code}"`) })
})

test('one answer in fifty of the elevation service is 503, if the sandbox misbehaves', async () => {
  const { wcs } = await setup(true)
  const statuses: number[] = []
  for (let i = 0; i < 100; i += 1) statuses.push((await wcs(coverage(0, 4))).status)
  expect(statuses.filter((status) => status === 503)).toHaveLength(2)
})

test('the router sends tables of metres and seconds, and null where no way is short enough', async () => {
  const { osrm } = await setup()
  const at = (east: number, north: number): string =>
    toWorld([LAND.minEast + east, LAND.minNorth + north] as Point).join(',')
  const points = [at(2_000, 2_000), at(2_600, 2_000), at(11_000, 11_000)].join(';')
  const table = await osrm(`/table/v1/foot/${points}?sources=0&destinations=0;1;2&annotations=distance,duration`)
  const { code, distances, durations, sources, destinations } = JSON.parse(table.text)
  expect([code, sources.length, destinations.length]).toEqual(['Ok', 1, 3])
  const [here, near, far] = distances[0]
  expect([here, far]).toEqual([0, null])
  expect(near).toBeGreaterThan(400)
  expect(near).toBeLessThan(1_500)
  expect(durations[0][1]).toBeCloseTo(near / 1.25, 0)
})

test('the router refuses what it does not know by its code', async () => {
  const { osrm } = await setup()
  const many = Array.from({ length: 101 }, () => '25,60').join(';')
  const codes = [
    ['/route/v1/foot/25,60;25,61', 'InvalidUrl'],
    ['/table/v1/foot/25;26', 'InvalidQuery'],
    [`/table/v1/foot/${many}`, 'TooBig'],
    ['/table/v1/foot/25,60;25,61?sources=7', 'InvalidOptions'],
  ] as const
  for (const [path, code] of codes) {
    const { status, text } = await osrm(path)
    expect([status, JSON.parse(text).code], path).toEqual([400, code])
  }
})
