import { expect, test } from 'vitest'
import { addSite } from '../support/captures.ts'
import { setup } from '../support/setup.ts'

test('without a CDN the workflow ends with the pictures, which the village serves itself', {
  timeout: 120_000,
}, async () => {
  await using t = await setup({ hasCdn: false })
  await t.work()
  const url = `${t.sandbox.urlOf('sites')}/library`
  const site = await addSite(t, url)
  const { id } = await t.millrace.workflows.start(t.parts.goodSite, { site_id: site, url })
  expect(await t.millrace.workflows.result(id, { timeout: '110s' })).toMatchObject({ status: 'completed' })
  const shown = await t.sql('select cdn_url from village.media where owner_id = $1 and parent_id is not null', [site])
  expect(shown).toEqual(Array(12).fill({ cdn_url: null }))
  expect(t.sandbox.received.calls.filter(({ service }) => service === 'cdn')).toEqual([])
})
