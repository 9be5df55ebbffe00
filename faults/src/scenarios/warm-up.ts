import { drain } from '../harness/checker.ts'
import { type Producer, tasksOf } from '../harness/producer.ts'
import type { World } from '../harness/world.ts'

let times = 0

/** Shows the running workers how short the tasks are: from then on they claim more than they have slots for. */
export async function warmUp(world: World, producer: Producer): Promise<void> {
  const tasks = tasksOf(`warm-up-${times++}`, 60, () => ({ does: 'plain' }))
  await producer.order({ how: 'many', tasks })
  if (!(await drain(world, 30_000))) throw new Error('The warm-up did not drain.')
}
