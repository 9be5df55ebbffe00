// The handlers of all job types that are built.
import type { Implementation } from 'millrace'
import type { VillageParts } from './village-parts.ts'

export const villageHandlers = (_parts: VillageParts): Implementation[] => []
