// Orders for a producer process, and its answers.
import type { Child } from './child.ts'
import type { Answer, EnqueueOrder } from './producer-main.ts'
import type { Deed, Task } from './tasks.ts'

const ANSWER_DEADLINE_MS = 60_000

export class Producer {
  readonly child: Child
  readonly #waiting = new Map<number, (answers: Answer[]) => void>()
  #token = 0

  constructor(child: Child) {
    this.child = child
    child.process.on('message', (message) => {
      const { token, answers } = message as { token: number; answers: Answer[] }
      this.#waiting.get(token)?.(answers)
      this.#waiting.delete(token)
    })
  }

  /** By position. Nothing throws: an enqueue that failed is an answer too. */
  order(order: EnqueueOrder): Promise<Answer[]> {
    const token = this.#token++
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`The producer did not answer: ${order.how}`)), ANSWER_DEADLINE_MS)
      this.#waiting.set(token, (answers) => {
        clearTimeout(timer)
        resolve(answers)
      })
      this.child.process.send({ token, order })
    })
  }

  each(tasks: Task[], more: Partial<EnqueueOrder> = {}): Promise<Answer[]> {
    return this.order({ how: 'each', tasks, ...more })
  }
}

/** Tasks with numbers of their own. */
export function tasksOf(prefix: string, count: number, deed: (i: number) => { does: Deed; ms?: number }): Task[] {
  return Array.from({ length: count }, (_, i) => ({ n: `${prefix}-${i}`, ...deed(i) }))
}
