// The append-only history of a scenario: one file, written by every process of it, one JSON line per fact.
//
// Lines are written synchronously with O_APPEND, so that a process killed in the next instruction has still told what
// it did, and lines of different processes never mix.
import { closeSync, existsSync, openSync, readSync, writeSync } from 'node:fs'
import { eventually, until } from './until.ts'

export interface RunFact {
  what: 'started' | 'effect' | 'ended' | 'failed' | 'aborted'
  /** The task's number, as the producer made it up. */
  n: string
  id: string
  run: string
  attempt?: number
  why?: string
}

export interface EngineFact {
  what: 'event'
  event: string
  id?: string
  run?: string
  why?: string
}

export interface EnqueueFact {
  what: 'acknowledged' | 'unknown' | 'refused'
  n: string
  id?: string
  why?: string
}

export type NewFact = RunFact | EngineFact | EnqueueFact
/** `at`: milliseconds of the one clock that all processes of a machine share. `who`: the process's label. */
export type Fact = NewFact & { at: number; who: string }

export type Recorder = (fact: NewFact) => void

/** `skewMs`: by how much the clock of this process is wrong. */
export function recorder(file: string, who: string, skewMs = 0): Recorder {
  const handle = openSync(file, 'a')
  return (fact) => {
    writeSync(handle, `${JSON.stringify({ at: Date.now() - skewMs, who, ...fact })}\n`)
  }
}

export class History {
  readonly file: string
  readonly #facts: Fact[] = []
  #offset = 0
  #rest = ''

  constructor(file: string) {
    this.file = file
  }

  /** Everything told so far. */
  read(): readonly Fact[] {
    if (!existsSync(this.file)) return this.#facts
    const handle = openSync(this.file, 'r')
    const chunk = Buffer.alloc(1 << 20)
    try {
      for (;;) {
        const length = readSync(handle, chunk, 0, chunk.length, this.#offset)
        if (length === 0) return this.#facts
        this.#offset += length
        this.#take(chunk.toString('utf8', 0, length))
      }
    } finally {
      closeSync(handle)
    }
  }

  runs(what: RunFact['what']): (Fact & RunFact)[] {
    return this.read().filter((fact): fact is Fact & RunFact => fact.what === what)
  }

  events(name: string): (Fact & EngineFact)[] {
    return this.read().filter((fact): fact is Fact & EngineFact => fact.what === 'event' && fact.event === name)
  }

  enqueues(what: EnqueueFact['what']): (Fact & EnqueueFact)[] {
    return this.read().filter((fact): fact is Fact & EnqueueFact => fact.what === what)
  }

  until(what: string, withinMs: number, matches: (fact: Fact) => boolean): Promise<Fact> {
    return until(what, withinMs, () => this.read().find(matches))
  }

  eventually(withinMs: number, matches: (fact: Fact) => boolean): Promise<Fact | undefined> {
    return eventually(withinMs, () => this.read().find(matches))
  }

  #take(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#facts.push(JSON.parse(line) as Fact)
  }
}
