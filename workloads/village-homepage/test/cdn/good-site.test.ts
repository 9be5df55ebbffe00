// The workflow of a submitted site, run to its end by a real worker.
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { addSite } from '../support/captures.ts'
import { addOriginal, picture, variantRows } from '../support/pictures.ts'
import { setup, type Village } from '../support/setup.ts'

const ENV = { VILLAGECOMPUTE_JOBS_MAX_ATTEMPTS: '1', VILLAGECOMPUTE_JOBS_BASE_DELAY: '1' }

/** On a busy machine a browser takes its time, and so do twelve pictures. */
const PATIENCE = { timeout: 120_000 }

const start = async (t: Village, url: string) => {
  const site = await addSite(t, url)
  const { id } = await t.millrace.workflows.start(t.parts.goodSite, { site_id: site, url })
  return { site, id }
}

const ended = (t: Village, id: string) => t.millrace.workflows.result(id, { timeout: '120s' })

const pictures = (t: Village, site: string) =>
  t.sql<{ id: string; cdn_url: string | null }>(
    'select id, cdn_url from village.media where owner_id = $1 and parent_id is not null',
    [site],
  )

test('a site gets its screenshots, their variants and a place for each on the CDN', PATIENCE, async () => {
  await using t = await setup({ env: ENV })
  await t.work()
  const { site, id } = await start(t, `${t.sandbox.urlOf('sites')}/bakery`)
  expect(await ended(t, id)).toMatchObject({ status: 'completed' })
  const shown = await pictures(t, site)
  expect(shown).toHaveLength(12)
  expect(t.sandbox.cdn.keys).toHaveLength(12)
  for (const { cdn_url: url } of shown) expect((await fetch(url ?? '')).status, url ?? 'none').toBe(200)
})

test(
  'if one upload fails for good, nothing is left on the CDN, and the village serves the pictures itself',
  PATIENCE,
  async () => {
    await using t = await setup({ env: ENV })
    t.sandbox.cdn.failAt(3)
    await t.work()
    const { site, id } = await start(t, `${t.sandbox.urlOf('sites')}/harbour`)
    expect(await ended(t, id)).toMatchObject({ status: 'rolled back' })
    expect(t.sandbox.cdn.keys).toEqual([])
    const methods = t.sandbox.received.calls
      .filter(({ service }) => service === 'cdn')
      .map(({ what }) => what.split(' ')[0])
    // Objects had been there.
    expect(methods.filter((method) => method === 'DELETE').length).toBeGreaterThan(0)
    const shown = await pictures(t, site)
    expect(shown).toHaveLength(12)
    expect(shown.filter(({ cdn_url }) => cdn_url !== null)).toEqual([])
    expect(await t.sql('select status from village.good_sites where id = $1', [site])).toEqual([{ status: 'listed' }])
  },
)

test('when a newer picture takes its place, the objects of the older one leave the CDN', PATIENCE, async () => {
  await using t = await setup({ env: ENV })
  const owner = { ownerKind: 'site', ownerId: randomUUID(), role: 'desktop' }
  const bytes = await picture(160, 120).jpeg().toBuffer()
  const process = (media: string) =>
    t.millrace.enqueue(t.parts.contracts.IMAGE_PROCESSING, { media_id: media, kind: 'screenshot' })
  await t.work()
  const old = await addOriginal(t, bytes, owner)
  await t.millrace.result((await process(old)).id)
  for (const { id } of await variantRows(t, old))
    await t.millrace.result((await t.millrace.enqueue(t.parts.cdnContracts.CDN_UPLOAD, { media_id: id })).id)
  expect(t.sandbox.cdn.keys).toHaveLength(6)
  await t.millrace.result((await process(await addOriginal(t, bytes, owner))).id)
  await expect.poll(() => t.sandbox.cdn.keys, { timeout: 15_000 }).toEqual([])
})
