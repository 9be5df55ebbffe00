// What `implement` takes instead of a handler when the handler shall run in a process of its own.
import { InvalidDefinition } from '../../errors.ts'

export interface Isolation {
  isolation: 'process'
  /** The module whose default export is the handler: `new URL('./render-pdf.js', import.meta.url)`. */
  module: URL
  /** V8's heap limit. With Buffers and Node itself the process may have 128 MB more (Linux). Default 256. */
  memoryMb?: number
  /** Processes that are kept ready; more are started as jobs need them, up to the lane's slots. Default 1. */
  warm?: number
}

export const DEFAULT_MEMORY_MB = 256
export const DEFAULT_WARM = 1
const LEAST_MEMORY_MB = 32
const MOST_MEMORY_MB = 1024 * 1024
const MOST_WARM = 1_000

export function checkIsolation(type: string, { isolation, module, memoryMb, warm }: Isolation): void {
  const refuse = (what: string): never => {
    throw new InvalidDefinition(`The handler of job "${type}" ${what}`)
  }
  if (isolation !== 'process') refuse(`has isolation "${isolation}": expected 'process', or a function instead.`)
  if (!(module instanceof URL) || module.protocol !== 'file:')
    refuse(`needs a module to load in its process: write \`module: new URL('./handler.js', import.meta.url)\`.`)
  if (memoryMb !== undefined && !isWithin(memoryMb, LEAST_MEMORY_MB, MOST_MEMORY_MB))
    refuse(`has memoryMb ${memoryMb}: expected an integer from ${LEAST_MEMORY_MB}.`)
  if (warm !== undefined && !isWithin(warm, 0, MOST_WARM))
    refuse(`has warm ${warm}: expected an integer from 0 to ${MOST_WARM}.`)
}

const isWithin = (value: number, least: number, most: number): boolean =>
  Number.isInteger(value) && value >= least && value <= most
