/** Whether something goes wrong this time: every nth does; 0 is never. */
export const isNth = (count: number, n: number): boolean => n > 0 && count % n === 0
