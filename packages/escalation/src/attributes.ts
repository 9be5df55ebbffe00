// What messages may say about a payload: the paths that the contract of the job names, and nothing else.
import type { Millrace } from 'millrace'
import type { AttributesOf } from './fault.ts'

export function attributesFrom(_millrace: Millrace): AttributesOf {
  return () => ({})
}
