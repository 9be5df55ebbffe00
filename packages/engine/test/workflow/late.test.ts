import { defineWorkflow } from 'millrace'
import { expect, test } from 'vitest'
import { Millrace } from '#src/millrace'
import { jobEvent, setup, shortLease, signal } from '../support/setup.ts'
import { handlersOf, named, undo, undone, work } from './running.ts'

test('steps are undone from the last that ended to the first, although nobody looked in between', async () => {
  const flow = defineWorkflow('late')
    .step('slow', work, { ...named('slow'), ...undone })
    .step('quick', work, { ...named('quick'), ...undone })
    .step('last', work, { ...named('last'), after: ['slow', 'quick'] })
  await using t = await setup()
  const millrace = t.client([work, undo], { workflows: [flow] })
  const { id } = await millrace.workflows.start(flow)
  const steps = async () => (await millrace.workflows.get(id))?.steps ?? []
  const [slowId = '', quickId = ''] = (await steps()).map(({ jobIds }) => jobIds[0])

  // A worker that does not know the workflow ends its jobs, one long before the other.
  const quickEnded = signal()
  const other = t.client([work, undo])
  const [slow, quick] = [slowId, quickId].map((jobId) => jobEvent(other, 'job_completed', jobId))
  const deeds = { done: [], work: ({ name }: { name: string }) => (name === 'slow' ? quickEnded.promise : undefined) }
  await other.work({ handlers: handlersOf(deeds as never), lease: shortLease })
  await quick
  quickEnded.resolve()
  await slow
  await other.close()

  const { advancer } = Millrace.servicesOf(millrace as never)
  await advancer.sweep()
  expect(await steps()).toMatchObject([{ status: 'completed' }, { status: 'completed' }, { status: 'running' }])
  await millrace.workflows.cancel(id, { by: 'ann' })
  await advancer.idle()
  expect(await steps()).toMatchObject([{ undo: 'running' }, { undo: 'none' }, { status: 'cancelled' }])
})
