// Starts a worker again whenever it dies, as any process manager would, and counts how often that was.
import type { Child, Exit } from './child.ts'
import type { WorkerWishes, World } from './world.ts'

export class Supervisor {
  readonly crashes: Exit[] = []
  readonly #world: World
  readonly #wishes: WorkerWishes
  #child: Child
  #isStopped = false

  private constructor(world: World, wishes: WorkerWishes, child: Child) {
    this.#world = world
    this.#wishes = wishes
    this.#child = child
    this.#watch(child)
  }

  static async start(world: World, wishes: WorkerWishes): Promise<Supervisor> {
    return new Supervisor(world, wishes, await world.startWorker(wishes))
  }

  /** The process that runs now is left to the world. */
  stop(): void {
    this.#isStopped = true
  }

  get child(): Child {
    return this.#child
  }

  #watch(child: Child): void {
    void child.exited.then((exit) => {
      if (this.#isStopped) return
      this.crashes.push(exit)
      this.#child = this.#world.spawnWorker(this.#wishes)
      this.#watch(this.#child)
    })
  }
}
