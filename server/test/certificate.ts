// A self-signed certificate for the local server that plays a vendor: Apple's push hosts and Outlook's mail host, valid
// until 2124. Clients in tests trust it.

export const certificate = `-----BEGIN CERTIFICATE-----
MIIBsTCCAVigAwIBAgIUY9D4llAotWo/cOq6P7w+NZ/4YXcwCgYIKoZIzj0EAwIw
FjEUMBIGA1UEAwwLdmVuZG9yLnRlc3QwIBcNMjQwMTAxMDAwMDAwWhgPMjEyNDAx
MDEwMDAwMDBaMBYxFDASBgNVBAMMC3ZlbmRvci50ZXN0MFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAE+7Kgca1o/daHDcQsr5i0xUDiz8/9kF/8/+RtNEmT7WYgqyyz
KqhZxFjE2aYacuk41EveMXRIGoWYFRrIyCAGFaOBgTB/ME0GA1UdEQRGMESCEmFw
aS5wdXNoLmFwcGxlLmNvbYIaYXBpLnNhbmRib3gucHVzaC5hcHBsZS5jb22CEnNt
dHAub2ZmaWNlMzY1LmNvbTAPBgNVHRMBAf8EBTADAQH/MB0GA1UdDgQWBBS9jdNS
Ep3k3gmh5CCrahk2NpeF/zAKBggqhkjOPQQDAgNHADBEAiB/hznKpEv566EXhL2N
vEP/bkRrAyXRCpZKoNC+ov/H+gIgXYaKqv4QO1FniMK0nU6kKd9wEdnxjM7OE5Ik
mvpsRDU=
-----END CERTIFICATE-----
`

export const certificateKey = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgdWrKCJ9m+n8EQcnW
hZMvw93LQLV7ph+srPm9i6bJ0fuhRANCAAT7sqBxrWj91ocNxCyvmLTFQOLPz/2Q
X/z/5G00SZPtZiCrLLMqqFnEWMTZphpy6TjUS94xdEgahZgVGsjIIAYV
-----END PRIVATE KEY-----
`
