// While an organization starves in `critical`, bulk waits; for any other reason it does not.
import { expect, test } from 'vitest'
import { Degradation } from '#src/jobs/degradation'
import { type Dartwing, LARGE, SMALL, setup } from '../support/dartwing.ts'

/** Nobody runs it. */
const fax = (t: Dartwing, organization = SMALL) =>
  t.millrace.enqueueByType('dartwing_fax.send_fax', { organization, fax: String(Math.floor(Math.random() * 1e9)) })

const inTwentySeconds = () => Date.now() + 20_000
const bulkPauses = async (t: Dartwing) => (await t.millrace.pauses.list()).filter(({ queue }) => queue === 'bulk')

test('an organization that starves at two looks in a row pauses bulk for a minute, and its end ends the pause', async () => {
  await using t = await setup()
  const { id } = await fax(t)
  const degradation = new Degradation(t.millrace)
  expect(await degradation.tick()).toEqual([])
  expect(await degradation.tick(inTwentySeconds())).toEqual([SMALL])
  expect(await bulkPauses(t)).toEqual([])
  await degradation.tick(inTwentySeconds())
  expect(await bulkPauses(t)).toMatchObject([
    { by: 'dartwing', reason: `critical jobs of ${SMALL} have waited for over 15 s`, expiresAt: expect.any(Date) },
  ])
  await t.millrace.cancel(id, { by: 'test' })
  expect(await degradation.tick(inTwentySeconds())).toEqual([])
  expect(await bulkPauses(t)).toEqual([])
})

test('the pause of an operator outlives it', async () => {
  await using t = await setup()
  await t.millrace.pauses.pause({ queue: 'bulk' }, { by: 'operator', reason: 'maintenance' })
  const { id } = await fax(t)
  const degradation = new Degradation(t.millrace)
  await degradation.tick(inTwentySeconds())
  await degradation.tick(inTwentySeconds())
  expect((await bulkPauses(t)).map(({ by }) => by).sort()).toEqual(['dartwing', 'operator'])
  await t.millrace.cancel(id, { by: 'test' })
  await degradation.tick(inTwentySeconds())
  expect((await bulkPauses(t)).map(({ by }) => by)).toEqual(['operator'])
})

test('an organization that is suspended, and a queue that an operator paused, starve nobody', async () => {
  await using t = await setup()
  await fax(t)
  await t.millrace.tenants.suspend(SMALL, { by: 'operator' })
  const degradation = new Degradation(t.millrace)
  expect(await degradation.tick(inTwentySeconds())).toEqual([])
  await fax(t, LARGE)
  await t.millrace.pauses.pause({ queue: 'critical' }, { by: 'operator', reason: 'maintenance' })
  expect(await degradation.tick(inTwentySeconds())).toEqual([])
  expect(await bulkPauses(t)).toEqual([])
})
