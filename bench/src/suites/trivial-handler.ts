// The isolated handler of the isolation suite.
export default function handler(): void {}
