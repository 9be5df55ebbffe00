// The handlers of all job types. Only worker processes load them.
import type { Implementation } from 'millrace'
import type { LipasSystem } from './system.ts'

export function lipasHandlers(_system: LipasSystem): Implementation[] {
  return []
}
