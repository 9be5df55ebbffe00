import type { JobContract, Millrace } from 'millrace'
import { expect, test } from 'vitest'
import { setup } from '../../packages/engine/test/support/setup.ts'
import { openDocument } from '../support/document.ts'

test('the guide’s program is told what the guide says', async () => {
  await using t = await setup()
  await using guide = await openDocument('docs/guides/deduplication.md')
  const contracts = Object.values(await guide.load<Record<string, JobContract>>('contracts.ts'))
  const { demonstrate } = await guide.load<{ demonstrate(millrace: Millrace): Promise<string[]> }>('enqueue.ts')
  const told = await demonstrate(t.client(contracts))
  expect(told).toEqual([
    'queued 1',
    expect.stringMatching(/^duplicate 1$/),
    expect.stringMatching(/^queued /),
    expect.stringMatching(/^duplicate /),
    expect.stringMatching(/^queued /),
    expect.stringMatching(/^replaced /),
    expect.stringMatching(/^queued /),
    expect.stringMatching(/^replaced /),
  ])
  const idOf = (i: number) => told[i]?.split(' ')[1]
  expect([idOf(5), idOf(7)]).toEqual([idOf(4), idOf(6)])
  expect(await t.sql('select type, tenant, payload from millrace.job order by id')).toEqual([
    { type: 'feed.import', tenant: null, payload: { feedId: 'news' } },
    { type: 'feed.import', tenant: 'acme', payload: { feedId: 'news' } },
    { type: 'document.index', tenant: null, payload: { documentId: 'doc', version: 2 } },
    { type: 'preview.render', tenant: null, payload: { pageId: 'home', html: '<p>2</p>' } },
  ])
})
