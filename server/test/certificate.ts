// What the local server that plays a vendor proves itself with: for Apple's push hosts, until 2124, vouched for by nobody but
// itself. Clients in tests are told to believe it.

export const certificate = `-----BEGIN CERTIFICATE-----
MIIBnDCCAUOgAwIBAgIUXhbN8+nFHwO/yarUr314PM3mzagwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLdmVuZG9yLnRlc3QwIBcNMjQwMTAxMDAwMDAwWhgPMjEyNDAx
MDEwMDAwMDBaMBYxFDASBgNVBAMMC3ZlbmRvci50ZXN0MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAE+7Kgca1o/daHDcQsr5i0xUDiz8/9kF/8/+RtNEmT7WYgqyyz
KqhZxFjE2aYacuk41EveMXRIGoWYFRrIyCAGFaNtMGswOQYDVR0RBDIwMIISYXBp
LnB1c2guYXBwbGUuY29tghphcGkuc2FuZGJveC5wdXNoLmFwcGxlLmNvbTAPBgNV
HRMBAf8EBTADAQH/MB0GA1UdDgQWBBS9jdNSEp3k3gmh5CCrahk2NpeF/zAKBggq
hkjOPQQDAgNHADBEAiBMNKmh8pOfynE/1RKxr9RhNoev44srFrKMUn4ow/EKdAIg
DKVe6yXa2MDCL7xJfZqqX0h6VRUlQO9O5uYcR63bDKI=
-----END CERTIFICATE-----
`

export const certificateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgdWrKCJ9m+n8EQcnW
hZMvw93LQLV7ph+srPm9i6bJ0fuhRANCAAT7sqBxrWj91ocNxCyvmLTFQOLPz/2Q
X/z/5G00SZPtZiCrLLMqqFnEWMTZphpy6TjUS94xdEgahZgVGsjIIAYV
-----END PRIVATE KEY-----
`
