/** Whether a host leads to this machine. */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\.\d+\.\d+\.\d+$/.test(hostname);
}

/** Whether a host leads to this machine or to a service of the cluster, where sending in clear is safe. */
export function isNearHost(hostname: string): boolean {
  if (isLoopback(hostname)) return true;
  return !/[.:]/.test(hostname) || /\.svc(?:\.cluster\.local)?$/.test(hostname);
}
